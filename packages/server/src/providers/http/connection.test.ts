import { afterEach, describe, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import {
  answer,
  closePeers,
  type Peer,
  peer,
  textOf,
  turns,
  type Visit,
} from '../../testing/providers/http/peer.ts';
import { socketClient as post } from './socket-client.ts';

afterEach(closePeers);

const never = new AbortController().signal;
const MEGABYTE = 1024 * 1024;
const ask = (url: string, body = '{}', signal = never) => post({ url, headers: {}, body }, signal);
const greet = (visit: Visit) => void visit.say(answer('hello'));

describe('a request of 20 MB', () => {
  test.each([
    ['one byte a character', 'a'],
    ['Latin letters of two bytes', 'é'],
    ['characters of all lengths', 'aé€😀'],
  ])('of %s arrives completely at a slow server', async (_, text) => {
    const body = text.repeat((20 * MEGABYTE) / Buffer.byteLength(text));
    const { url, visits } = peer(greet, { slow: true });
    expect(await textOf((await ask(url, body)).body)).toBe('hello');
    const arrived = visits[0]?.requests[0]?.body;
    expect(arrived?.length).toBe(Buffer.byteLength(body));
    expect(arrived?.equals(Buffer.from(body))).toBe(true);
  });

  test('that is answered before it was read is abandoned, and the response is read', async () => {
    const refuse = (visit: Visit) =>
      void visit.say('HTTP/1.1 413 Too Large\r\ncontent-length: 8\r\n\r\ntoo much');
    const { url, visits } = peer(refuse, { deaf: true, opened: refuse });
    const { status, body } = await ask(url, 'a'.repeat(20 * MEGABYTE));
    expect([status, await textOf(body)]).toEqual([413, 'too much']);
    // The rest of the request must not be read as the next one.
    const again = await ask(url, 'a'.repeat(20 * MEGABYTE));
    expect([again.status, visits.length]).toEqual([413, 2]);
  });
});

describe('a response of 20 MB', () => {
  const SIZE = 20 * MEGABYTE;
  const body = Buffer.alloc(SIZE, 'Grüße, 世界 😀\n');
  const text = body.toString();
  const chunk = 100_000;
  const chunks = Array.from({ length: Math.ceil(SIZE / chunk) }, (_, at) => {
    const data = body.subarray(at * chunk, (at + 1) * chunk);
    return [`${data.length.toString(16)}\r\n`, data, '\r\n'];
  });
  const kinds: [string, (string | Uint8Array)[]][] = [
    ['of a length', [`HTTP/1.1 200 OK\r\ncontent-length: ${SIZE}\r\n\r\n`, body]],
    ['in chunks', ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', ...chunks.flat(), '0\r\n\r\n']],
    ['until the close', ['HTTP/1.1 200 OK\r\n\r\n', body]],
  ];

  test.each(kinds)(
    '%s is read completely and slowly, although the server closes after its last byte',
    async (_, said) => {
      const { url } = peer((visit) => visit.say(...said).hangUp());
      const answered = await ask(url);
      const pieces: string[] = [];
      for (;;) {
        await turns(pieces.length === 0 ? 300 : 20);
        const piece = await answered.body.read();
        if (piece === null) break;
        pieces.push(piece);
      }
      // Not `toBe`, which would print both texts.
      expect(pieces.join('') === text).toBe(true);
    },
  );

  test.each(kinds)('%s is not buffered for a reader that does not read', async (_, said) => {
    const { url, visits } = peer((visit) => visit.say(...said).hangUp());
    const answered = await ask(url);
    await turns(300);
    const piece = await answered.body.read();
    expect(piece?.length).toBeLessThan(2 * MEGABYTE);
    expect(visits[0]?.sent).toBeLessThan(SIZE);
    answered.body.cancel();
    await visits[0]?.closed;
  });

  test('is read immediately by a fast reader', async () => {
    const { url } = peer((visit) => void visit.say(...(kinds[0]?.[1] ?? [])));
    expect((await textOf((await ask(url)).body)) === text).toBe(true);
  });
});

describe('a truncated response', () => {
  test.each([
    ['before it begins', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\ncontent-'],
  ])('%s is a lost connection', async (_, said) => {
    const { url } = peer((visit) => visit.say(said).hangUp());
    await expect(ask(url)).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  });

  test.each([
    ['of a length', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello'],
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  ])('%s in its body is read up to that point', async (_, said) => {
    const { url } = peer((visit) => visit.say(said).hangUp());
    const { body } = await ask(url);
    expect(await body.read()).toBe('hello');
    await expect(body.read()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await expect(body.read()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  });

  test('by a reset is incomplete, although it would last until the close', async () => {
    const reset = Promise.withResolvers<void>();
    // `Bun.listen` cannot reset a connection.
    const server = createServer((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nhello'));
      reset.promise.then(() => socket.resetAndDestroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { body } = await ask(`http://127.0.0.1:${port}/`);
    expect(await body.read()).toBe('hello');
    reset.resolve();
    await expect(body.read()).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      cause: { code: 'ECONNRESET' },
    });
    await new Promise((resolve) => server.close(resolve));
  });

  test.each([
    ['in its head', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['before its end', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfive\r\n'],
  ])('by bytes that are not HTTP, %s, closes the connection', async (_, said) => {
    const { url, visits } = peer((visit) => void visit.say(said));
    await expect(ask(url)).rejects.toMatchObject({ code: 'BAD_ANSWER' });
    await visits[0]?.closed;
  });

  test('by an invalid body is read up to that point', async () => {
    const { url, visits } = peer((visit) => {
      visit.say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n');
    });
    const { body } = await ask(url);
    expect(await body.read()).toBe('hello');
    visits[0]?.say('five\r\n');
    await expect(body.read()).rejects.toMatchObject({ code: 'BAD_ANSWER' });
    await visits[0]?.closed;
  });
});

describe('an abort', () => {
  const reason = new Error('enough');

  /** Aborts after `when`, and checks that the server sees it. */
  async function aborted({ url, visited }: Peer, when: (visit: Visit) => Promise<unknown>): Promise<void> {
    const abort = new AbortController();
    const asked = ask(url, '{}', abort.signal);
    const visit = await visited(1);
    await when(visit);
    abort.abort(reason);
    await expect(asked).rejects.toBe(reason);
    await visit.closed;
  }

  test('before anything was sent sends nothing', async () => {
    const { url, visits } = peer(greet);
    await expect(ask(url, 'first', AbortSignal.abort(reason))).rejects.toBe(reason);
    await textOf((await ask(url, 'second')).body);
    await expect(ask(url, 'third', AbortSignal.abort(reason))).rejects.toBe(reason);
    await textOf((await ask(url, 'fourth')).body);
    const bodies = visits.flatMap(({ requests }) => requests.map(({ body }) => body.toString()));
    expect(bodies).toEqual(['second', 'fourth']);
  });

  test('directly after the request leaves no connection', async () => {
    const target = peer(greet);
    const abort = new AbortController();
    const asked = ask(target.url, 'first', abort.signal);
    abort.abort(reason);
    await expect(asked).rejects.toBe(reason);
    await textOf((await ask(target.url, 'second')).body);
    const bodies = target.visits.flatMap(({ requests }) => requests.map(({ body }) => body.toString()));
    expect(bodies).toEqual(['second']);
    if (target.visits.length > 1) await target.visits[0]?.closed;
  });

  test('during the handshake closes the connection', async () => {
    const silent = peer(() => undefined);
    await aborted({ ...silent, url: silent.url.replace('http:', 'https:') }, ({ heard }) => heard);
  });

  test('before the response head closes the connection', async () => {
    const asked = Promise.withResolvers<void>();
    await aborted(
      peer(() => asked.resolve()),
      () => asked.promise,
    );
  });

  test('while the request is being sent closes the connection', async () => {
    const target = peer(greet, { deaf: true });
    const abort = new AbortController();
    const asked = ask(target.url, 'a'.repeat(20 * MEGABYTE), abort.signal);
    await target.visited(1);
    await turns(10);
    abort.abort(reason);
    await expect(asked).rejects.toBe(reason);
  });

  test('in the body closes the connection, and keeps what was read', async () => {
    const { url, visits } = peer(
      (visit) => void visit.say('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello'),
    );
    const abort = new AbortController();
    const { body } = await ask(url, '{}', abort.signal);
    expect(await body.read()).toBe('hello');
    const read = body.read();
    abort.abort(reason);
    await expect(read).rejects.toBe(reason);
    await expect(body.read()).rejects.toBe(reason);
    await visits[0]?.closed;
  });

  test('after the end changes nothing, and the connection is reused', async () => {
    const { url, visits } = peer(greet);
    const abort = new AbortController();
    const { body } = await ask(url, '{}', abort.signal);
    expect(await textOf(body)).toBe('hello');
    abort.abort(reason);
    expect(await body.read()).toBeNull();
    expect(await textOf((await ask(url)).body)).toBe('hello');
    expect(visits.length).toBe(1);
  });

  test('by cancelling the body closes the connection', async () => {
    const { url, visits } = peer(
      (visit) => void visit.say('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello'),
    );
    const { body } = await ask(url);
    body.cancel();
    expect(await body.read()).toBeNull();
    await visits[0]?.closed;
  });
});
