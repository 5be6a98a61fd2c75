import { afterEach, describe, expect, test } from 'bun:test';
import type { ProviderEvent } from '../core/ports/provider.ts';
import {
  ask,
  closeVendors,
  delays,
  OPTIONS,
  PROMPT,
  silentVendor,
  sse,
  types,
  vendor,
  words,
} from '../testing/providers/vendor.ts';
import { slowness } from '../testing/until.ts';
import { httpProvider } from './http-provider.ts';

afterEach(closeVendors);

describe('a failure', () => {
  test.each([429, 500, 503])('%d is retried, and reported after the last attempt', async (status) => {
    const { url, bodies } = vendor(() => new Response('{}', { status }));
    const events = await ask(url);
    expect(types(events)).toEqual(['retrying', 'retrying', 'failed']);
    expect(delays(events)).toEqual([2, 4]);
    expect(bodies.length).toBe(3);
    expect(events[0]).toMatchObject({ attempt: 2, fault: { message: `Refused (${status}).` } });
  });

  test('that passes is not reported', async () => {
    const { url } = vendor((_request, attempt) =>
      attempt < 3 ? new Response('{}', { status: 503 }) : sse('Back', 'END'),
    );
    expect(types(await ask(url))).toEqual(['retrying', 'retrying', 'text', 'ended']);
  });

  test('waits as long as the vendor asks', async () => {
    const { url } = vendor((_request, attempt) =>
      attempt === 1
        ? new Response('{}', { status: 429, headers: { 'retry-after': '0.03' } })
        : sse('Back', 'END'),
    );
    expect(delays(await ask(url))).toEqual([30]);
  });

  test('is reported immediately if the vendor asks for too long a wait', async () => {
    const { url, bodies } = vendor(
      () => new Response('{}', { status: 429, headers: { 'retry-after': '3600' } }),
    );
    expect(types(await ask(url))).toEqual(['failed']);
    expect(bodies.length).toBe(1);
  });

  test('that is permanent is not retried', async () => {
    const { url, bodies } = vendor(() => new Response('{}', { status: 400 }));
    expect(types(await ask(url))).toEqual(['failed']);
    expect(bodies.length).toBe(1);
  });

  test('to connect is retried', async () => {
    const closed = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    const url = `http://127.0.0.1:${closed.port}/`;
    await closed.stop(true);
    const events = await ask(url);
    expect(types(events)).toEqual(['retrying', 'retrying', 'failed']);
    expect(events.at(-1)).toMatchObject({
      fault: { code: 'provider_unavailable', message: 'The model cannot be reached: ECONNREFUSED.' },
    });
  });

  test('of an invalid address is reported, not thrown', async () => {
    const events = await ask('not an address', { retry: { ...OPTIONS.retry, attempts: 1 } });
    expect(types(events)).toEqual(['failed']);
    expect(JSON.stringify(events)).not.toContain('not an address');
  });

  test('of an extra is retried once, immediately, in the plain form', async () => {
    const { url, bodies } = vendor((_request, attempt) =>
      attempt === 1 ? new Response('too fancy', { status: 400 }) : sse('Plain', 'END'),
    );
    expect(types(await ask(url))).toEqual(['text', 'ended']);
    expect(bodies).toEqual([{ plain: false }, { plain: true }]);
    const stubborn = vendor(() => new Response('too fancy', { status: 400 }));
    expect(types(await ask(stubborn.url))).toEqual(['failed']);
    expect(stubborn.bodies.length).toBe(2);
  });

  test('with a success status is still a failure', async () => {
    const { url } = vendor(
      () => new Response('<html>Welcome</html>', { headers: { 'content-type': 'text/html' } }),
    );
    expect(await ask(url)).toEqual([
      { type: 'failed', fault: { code: 'provider_rejected', message: 'Refused (200).' } },
    ]);
  });
});

describe('a stream', () => {
  test('that breaks after deltas is restarted', async () => {
    const { url } = vendor((_request, attempt) =>
      attempt === 1 ? sse('Half', 'an') : sse('A', 'whole', 'answer', 'END'),
    );
    const events = await ask(url);
    expect(types(events)).toEqual(['text', 'retrying', 'text', 'ended']);
    expect(events[1]).toMatchObject({ fault: { code: 'provider_unavailable' } });
  });

  test('whose connection is lost is restarted', async () => {
    let attempt = 0;
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket, received) {
          if (!received.toString().startsWith('POST')) return;
          attempt += 1;
          socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n');
          socket.write('transfer-encoding: chunked\r\n\r\n');
          if (attempt === 1) socket.write('c\r\ndata: Half\n\n\r\n');
          else socket.write('18\r\ndata: Whole\n\ndata: END\n\n\r\n0\r\n\r\n');
          setTimeout(() => socket.end(), 20);
        },
      },
    });
    const events = await ask(`http://127.0.0.1:${server.port}/`);
    server.stop(true);
    expect(types(events)).toEqual(['text', 'retrying', 'text', 'ended']);
  });

  test('that always breaks is given up', async () => {
    const { url, bodies } = vendor(() => sse('Half'));
    const events = await ask(url);
    expect(types(events)).toEqual(['text', 'retrying', 'text', 'retrying', 'text', 'failed']);
    expect(bodies.length).toBe(3);
  });

  test('that stays silent is aborted, upstream too', async () => {
    const { url, closed } = silentVendor('Hm');
    const events = await ask(url, { idleMs: 30, retry: { ...OPTIONS.retry, attempts: 1 } });
    expect(types(events)).toEqual(['text', 'failed']);
    expect(events.at(-1)).toMatchObject({ fault: { message: 'The model was silent for too long.' } });
    await closed;
  });

  test('that does not begin has the longer timeout, and no more', async () => {
    const { url } = vendor(async () => {
      await Bun.sleep(60);
      return sse('Late', 'END');
    });
    expect(types(await ask(url, { idleMs: 20 }))).toEqual(['text', 'ended']);
    const impatient = { firstByteMs: 20, retry: { ...OPTIONS.retry, attempts: 1 } };
    expect(types(await ask(url, impatient))).toEqual(['failed']);
  });

  test('with keep-alives is not silent', async () => {
    const pauseMs = 50 * slowness();
    const { url } = vendor(() => {
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          for (let count = 0; count < 30; count++) {
            controller.enqueue(new TextEncoder().encode(': still there\n\n'));
            await Bun.sleep(pauseMs);
          }
          controller.enqueue(new TextEncoder().encode('data: Done\n\ndata: END\n\n'));
          controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    expect(types(await ask(url, { idleMs: 20 * pauseMs }))).toEqual(['text', 'ended']);
  });

  test.each([': still there\n\n', 'event: ping\n\n', '\n'])(
    'with nothing but %j is aborted',
    async (sign) => {
      const closed = Promise.withResolvers<void>();
      const { url } = vendor(() => {
        let timer: Timer | undefined;
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            timer = setInterval(() => controller.enqueue(new TextEncoder().encode(sign)), 10);
          },
          cancel() {
            clearInterval(timer);
            closed.resolve();
          },
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      });
      const options = { idleMs: 400, firstByteMs: 600, retry: { ...OPTIONS.retry, attempts: 1 } };
      const events = await ask(url, options);
      expect(events).toMatchObject([{ fault: { message: 'The model was silent for too long.' } }]);
      await closed.promise;
    },
  );
});

test.each([': still there\n\n', '\n'])(
  'an endless stream of %j is aborted after some megabytes',
  async (sign) => {
    const closed = Promise.withResolvers<void>();
    const megabyte = new TextEncoder().encode(sign.repeat((1024 * 1024) / sign.length));
    let sent = 0;
    const { url } = vendor(() => {
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await Bun.sleep(0);
          if (sent++ < 200) controller.enqueue(megabyte);
          else controller.close();
        },
        cancel: () => closed.resolve(),
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    const events = await ask(url, { retry: { ...OPTIONS.retry, attempts: 1 } });
    expect(types(events)).toEqual(['failed']);
    await closed.promise;
    expect(sent).toBeLessThan(200);
  },
);

describe('cancellation', () => {
  test('closes the socket to the vendor', async () => {
    const { url, closed } = silentVendor('Well');
    const cancel = new AbortController();
    const events: ProviderEvent[] = [];
    // The timeout is long: only the cancellation can close the socket.
    const provider = httpProvider(words(url), { ...OPTIONS, idleMs: 1_000_000 });
    for await (const event of provider.stream(PROMPT, cancel.signal)) {
      events.push(event);
      if (event.type === 'text') cancel.abort();
    }
    expect(events).toEqual([
      { type: 'text', text: 'Well' },
      { type: 'failed', fault: { code: 'cancelled', message: 'The answer was cancelled.' } },
    ]);
    await closed;
  });

  test('by leaving the loop closes the socket', async () => {
    const { url, closed } = silentVendor('Well');
    for await (const _event of httpProvider(words(url), OPTIONS).stream(
      PROMPT,
      new AbortController().signal,
    )) {
      break;
    }
    await closed;
  });

  test('before the start sends no request', async () => {
    const { url, bodies } = vendor(() => sse('END'));
    expect(await ask(url, {}, AbortSignal.abort())).toEqual([
      { type: 'failed', fault: { code: 'cancelled', message: 'The answer was cancelled.' } },
    ]);
    expect(bodies.length).toBe(0);
  });

  test('during a retry delay ends the delay', async () => {
    const { url, bodies } = vendor(() => new Response('{}', { status: 503 }));
    const retry = { attempts: 3, firstDelayMs: 60_000, maxDelayMs: 60_000, random: () => 1 };
    for (const when of ['at once', 'later'] as const) {
      const cancel = new AbortController();
      const seen: ProviderEvent[] = [];
      for await (const event of httpProvider(words(url), { ...OPTIONS, retry }).stream(
        PROMPT,
        cancel.signal,
      )) {
        seen.push(event);
        if (event.type !== 'retrying') continue;
        if (when === 'at once') cancel.abort();
        else setTimeout(() => cancel.abort(), 10);
      }
      expect(seen.at(-1)).toMatchObject({ fault: { code: 'cancelled' } });
    }
    expect(bodies.length).toBe(2);
  });
});
