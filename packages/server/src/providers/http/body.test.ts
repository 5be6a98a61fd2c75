import { describe, expect, test } from 'bun:test';
import { BodyQueue } from './body.ts';
import { bodyOf } from './client.ts';

/** A body, and the calls to its socket. */
function begun() {
  const asked: string[] = [];
  const body = new BodyQueue({
    pause: () => void asked.push('pause'),
    resume: () => void asked.push('resume'),
    abandon: () => void asked.push('abandon'),
  });
  const push = (text: string | Buffer) => {
    const bytes = Buffer.from(text as string);
    body.push(bytes, 0, bytes.length);
    body.flush();
  };
  return { body, push, asked };
}

const COMPLETE = { kind: 'complete' } as const;
const HALF = 'x'.repeat(512 * 1024);

describe('a body', () => {
  test('is read in one piece if several are pending', async () => {
    const { body, push } = begun();
    for (const text of ['a', 'é', 'b']) push(text);
    expect(await body.read()).toBe('aéb');
  });

  test('resolves a pending read when a piece arrives', async () => {
    const { body, push } = begun();
    const first = body.read();
    push('a');
    push('b');
    expect(await first).toBe('a');
    expect(await body.read()).toBe('b');
  });

  test('reads only its own range of the bytes', async () => {
    const { body } = begun();
    body.push(Buffer.from('5\r\nhello\r\n'), 3, 8);
    body.flush();
    expect(await body.read()).toBe('hello');
  });

  test('offers everything pushed before a flush as one piece', () => {
    const { body } = begun();
    const offered: string[] = [];
    body.onText = (piece) => offered.push(piece) > 0;
    void body.read();
    const bytes = Buffer.from('ab');
    body.push(bytes, 0, 1);
    body.push(bytes, 1, 2);
    expect(offered).toEqual([]);
    body.flush();
    expect(offered).toEqual(['ab']);
  });

  test('stays pending while there is only the beginning of a character', async () => {
    const { body, push } = begun();
    const [first = 0, second = 0] = Buffer.from('é');
    const read = body.read();
    push(Buffer.of(first));
    push(Buffer.of(second));
    expect(await read).toBe('é');
  });

  test('ends after the pending pieces, and stays ended', async () => {
    const { body, push } = begun();
    push('a');
    body.end(COMPLETE);
    expect(await body.read()).toBe('a');
    expect(await body.read()).toBeNull();
    expect(await body.read()).toBeNull();
  });

  test('ends a pending read', async () => {
    const { body } = begun();
    const read = body.read();
    body.end(COMPLETE);
    expect(await read).toBeNull();
  });

  test('marks an incomplete last character', async () => {
    const { body, push } = begun();
    push(Buffer.concat([Buffer.from('a'), Buffer.from('é').subarray(0, 1)]));
    body.end(COMPLETE);
    expect([await body.read(), await body.read()]).toEqual(['a\ufffd', null]);
  });

  test('that breaks rejects the pending read and all later ones', async () => {
    const { body } = begun();
    const thrown = new Error('lost');
    const read = body.read();
    body.end({ kind: 'broken', thrown });
    await expect(read).rejects.toBe(thrown);
    await expect(body.read()).rejects.toBe(thrown);
    await expect(body.read()).rejects.toBe(thrown);
  });

  test('that breaks can be read up to that point', async () => {
    const { body, push } = begun();
    const thrown = new Error('lost');
    push('a');
    body.end({ kind: 'broken', thrown });
    expect(await body.read()).toBe('a');
    await expect(body.read()).rejects.toBe(thrown);
  });

  test('ends once: only the first end counts', async () => {
    const { body } = begun();
    body.end(COMPLETE);
    body.end({ kind: 'broken', thrown: new Error('too late') });
    expect(await body.read()).toBeNull();
  });
});

describe('the socket', () => {
  test('is paused above the limit, and resumed when that was read', async () => {
    const { body, push, asked } = begun();
    push(HALF);
    push(HALF);
    expect(asked).toEqual([]);
    push('x');
    push('x');
    expect(asked).toEqual(['pause']);
    expect((await body.read())?.length).toBe(2 * HALF.length + 2);
    expect(asked).toEqual(['pause', 'resume']);
    push('x');
    await body.read();
    expect(asked).toEqual(['pause', 'resume']);
  });

  test('is paused again above the limit', async () => {
    const { body, push, asked } = begun();
    for (let count = 0; count < 2; count++) {
      push(HALF + HALF + HALF);
      await body.read();
    }
    expect(asked).toEqual(['pause', 'resume', 'pause', 'resume']);
  });

  test('is not paused by what is read immediately', async () => {
    const { body, push, asked } = begun();
    const read = body.read();
    push(HALF + HALF + HALF);
    await read;
    expect(asked).toEqual([]);
  });

  test('is resumed at the end without a reader, since the connection is reused', async () => {
    const { body, push, asked } = begun();
    push(HALF + HALF + HALF);
    body.end(COMPLETE);
    expect(asked).toEqual(['pause', 'resume']);
    expect((await body.read())?.length).toBe(3 * HALF.length);
    body.cancel();
    expect(asked).toEqual(['pause', 'resume']);
  });
});

describe('cancelling', () => {
  test('abandons the response once, and nothing of it is read', async () => {
    const { body, push, asked } = begun();
    push('a');
    body.cancel();
    body.cancel();
    expect(asked).toEqual(['abandon']);
    expect(await body.read()).toBeNull();
  });

  test('ends the pending read', async () => {
    const { body } = begun();
    const read = body.read();
    body.cancel();
    expect(await read).toBeNull();
  });

  test('drops the beginning of a character', async () => {
    const { body, push } = begun();
    push(Buffer.from('é').subarray(0, 1));
    body.cancel();
    expect(await body.read()).toBeNull();
  });

  test.each([COMPLETE, { kind: 'broken', thrown: new Error('lost') } as const])(
    'after the end abandons nothing (%j)',
    (end) => {
      const { body, asked } = begun();
      body.end(end);
      body.cancel();
      expect(asked).toEqual([]);
    },
  );
});

describe('the body of a fetch response', () => {
  test('is text, wherever it is split', async () => {
    const [first = 0, second = 0] = Buffer.from('é');
    const pieces = [Buffer.of(0x61, first), Buffer.of(second), Buffer.of(first)];
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    const body = bodyOf(stream);
    let text = '';
    for (let piece = await body.read(); piece !== null; piece = await body.read()) text += piece;
    expect(text).toBe('aé\ufffd');
    expect(await body.read()).toBeNull();
  });

  test('that is missing has ended', async () => {
    const body = bodyOf(null);
    expect(await body.read()).toBeNull();
    body.cancel();
  });

  test('is cancelled at its source', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const body = bodyOf(new ReadableStream<Uint8Array>({ cancel: () => resolve() }));
    body.cancel();
    await promise;
    expect(await body.read()).toBeNull();
  });
});
