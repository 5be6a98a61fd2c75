import { afterEach, describe, expect, test } from 'bun:test';
import type { Prompt, ProviderEvent } from '../core/ports/provider.ts';
import { type HttpProviderOptions, httpProvider } from './http-provider.ts';
import { openaiChat } from './openai-chat.ts';
import { BROKEN_OFF, type Wire, type WireEvent } from './wire.ts';

const KEY = 'sk-very-secret-0123456789abcdefghij';
const PROMPT: Prompt = { task: 'chat', instructions: 'Be brief.', items: [], tools: [] };

/** A wire of words: each event is one, `END` ends. */
const words = (baseUrl: string): Wire<null> => ({
  request: (_prompt, plain) => ({ url: baseUrl, headers: { authorization: KEY }, body: { plain } }),
  start: () => null,
  step: (state, { data }) => {
    if (data === 'BUG') throw new TypeError('a bug');
    const ended: WireEvent = { type: 'ended', usage: { inputTokens: 1, outputTokens: 1 }, stop: 'done' };
    return [state, [data === 'END' ? ended : { type: 'text', text: data }]];
  },
  finish: () => [{ type: 'failed', fault: BROKEN_OFF }],
  refused: (status, body) => ({
    code: status === 429 ? 'provider_limited' : status >= 500 ? 'provider_unavailable' : 'provider_rejected',
    message: `Refused (${status}).`,
    retryable: status === 429 || status >= 500,
    plainly: body === 'too fancy',
  }),
});

const OPTIONS: HttpProviderOptions = {
  name: 'words',
  model: 'words-1',
  contextLimit: 1000,
  idleMs: 5000,
  retry: { attempts: 3, firstDelayMs: 2, longestDelayMs: 50, random: () => 1 },
};

const servers: { stop(force: boolean): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop(true)));
});

type Respond = (request: Request, attempt: number) => Response | Promise<Response>;

/** A vendor that answers each attempt as it is told. */
function vendor(respond: Respond) {
  const bodies: unknown[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    development: false,
    async fetch(request) {
      bodies.push(await request.json());
      return respond(request, bodies.length);
    },
    error: () => new Response(null, { status: 500 }),
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${server.port}/`, bodies };
}

const sse = (...data: string[]): Response =>
  new Response(data.map((one) => `data: ${one}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });

async function ask(
  url: string,
  more: Partial<HttpProviderOptions> = {},
  signal = new AbortController().signal,
): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  const provider = httpProvider(words(url), { ...OPTIONS, ...more });
  for await (const event of provider.stream(PROMPT, signal)) events.push(event);
  return events;
}

const types = (events: readonly ProviderEvent[]) => events.map(({ type }) => type);
const delays = (events: readonly ProviderEvent[]) =>
  events.flatMap((event) => (event.type === 'retrying' ? [event.delayMs] : []));

describe('an answer', () => {
  test('is streamed, what arrives together as one, and ends once', async () => {
    const { url } = vendor(() => sse('Hello', 'there', 'END', 'after the end'));
    expect(await ask(url)).toEqual([
      { type: 'text', text: 'Hellothere' },
      { type: 'ended', usage: { inputTokens: 1, outputTokens: 1 }, stop: 'done' },
    ]);
  });

  test('ends once even where it is cancelled at its end', async () => {
    const { url } = vendor(() => sse('Hello', 'END'));
    const cancel = new AbortController();
    const seen: string[] = [];
    for await (const event of httpProvider(words(url), OPTIONS).stream(PROMPT, cancel.signal)) {
      seen.push(event.type);
      if (event.type === 'ended') cancel.abort();
    }
    expect(seen).toEqual(['text', 'ended']);
  });

  test('that a wire cannot read is a bug, not a lost connection', async () => {
    const { url, bodies } = vendor(() => sse('Hello', 'BUG'));
    const logged: object[] = [];
    const error = (data: object) => void logged.push(data);
    const log = { debug: error, info: error, warn: error, error };
    expect((await ask(url, { log })).at(-1)).toEqual({
      type: 'failed',
      fault: { code: 'internal', message: "The model's answer could not be read." },
    });
    expect(bodies.length).toBe(1);
    expect(logged).toEqual([{ err: new TypeError('a bug') }]);
  });
});

describe('words', () => {
  /** A vendor that says each of these when it is told to. */
  function dictated() {
    const { promise: begun, resolve } = Promise.withResolvers<ReadableStreamDefaultController<string>>();
    const { url } = vendor(
      () =>
        new Response(new ReadableStream<string>({ start: resolve }), {
          headers: { 'content-type': 'text/event-stream' },
        }),
    );
    const say = async (word: string) => (await begun).enqueue(`data: ${word}\n\n`);
    return { url, say };
  }

  test('are offered when they arrive, and are no event where they are taken', async () => {
    const { url, say } = dictated();
    const seen: string[] = [];
    let heard = Promise.withResolvers<void>();
    const note = (text: string) => {
      seen.push(text);
      heard.resolve();
    };
    const take = (kind: string, text: string) => {
      if (text !== 'no') note(`${kind} ${text}`);
      return text !== 'no';
    };
    const listening = (async () => {
      for await (const event of httpProvider(words(url), OPTIONS).stream(
        PROMPT,
        new AbortController().signal,
        take,
      ))
        note(event.type === 'text' ? `event ${event.text}` : event.type);
    })();
    // The first one comes with the answer's beginning, when nobody waits for words yet.
    for (const word of ['first', 'one', 'no', 'two', 'END']) {
      heard = Promise.withResolvers();
      await say(word);
      await heard.promise;
    }
    await listening;
    expect(seen).toEqual(['event first', 'text one', 'event no', 'text two', 'ended']);
  });

  test('are not offered while an event is being worked on, and stay in their order', async () => {
    const { url, say } = dictated();
    let seen = '';
    let busy = false;
    let release = Promise.withResolvers<void>();
    const offered = { waiting: 0, busy: 0 };
    const take = (_kind: string, text: string) => {
      offered[busy ? 'busy' : 'waiting']++;
      if (text === 'stop ') return false;
      seen += text;
      return true;
    };
    const listening = (async () => {
      for await (const event of httpProvider(words(url), OPTIONS).stream(
        PROMPT,
        new AbortController().signal,
        take,
      )) {
        if (event.type !== 'text') continue;
        seen += event.text;
        busy = event.text.includes('stop');
        if (busy) await release.promise;
        busy = false;
      }
    })();
    const until = async (ending: string) => {
      while (!seen.endsWith(ending)) await Bun.sleep(1);
    };
    for (let round = 0; round < 5; round++) {
      release = Promise.withResolvers();
      await say('stop ');
      await until('stop ');
      await say('one ');
      await say('two ');
      await Bun.sleep(10); // so that they are there, as a rule
      release.resolve();
      await until('two ');
      await say('free ');
      await until('free ');
    }
    await say('END');
    await listening;
    expect(seen).toBe('stop one two free '.repeat(5));
    expect(offered.busy).toBe(0);
    expect(offered.waiting).toBeGreaterThanOrEqual(5);
  });
});

describe('the connection', () => {
  test('is used again, though the stream ends a little later than the answer', async () => {
    const ports = new Set<number | undefined>();
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        ports.add(server.requestIP(request)?.port);
        const body = new ReadableStream<string>({
          async start(controller) {
            controller.enqueue('data: Hello\n\ndata: END\n\n');
            await Bun.sleep(5);
            controller.close();
          },
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    servers.push(server);
    // One that has yet to end cannot be used again: sooner or later there is one that has.
    for (let asked = 0; asked === ports.size; asked++) await ask(`http://127.0.0.1:${server.port}/`);
  });
});

describe('a failure', () => {
  test.each([429, 500, 503])('%d is tried again, and again, and then told', async (status) => {
    const { url, bodies } = vendor(() => new Response('{}', { status }));
    const events = await ask(url);
    expect(types(events)).toEqual(['retrying', 'retrying', 'failed']);
    expect(delays(events)).toEqual([2, 4]);
    expect(bodies.length).toBe(3);
    expect(events[0]).toMatchObject({ attempt: 2, fault: { message: `Refused (${status}).` } });
  });

  test('that passes is forgotten', async () => {
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

  test('is told at once where the vendor asks for too much patience', async () => {
    const { url, bodies } = vendor(
      () => new Response('{}', { status: 429, headers: { 'retry-after': '3600' } }),
    );
    expect(types(await ask(url))).toEqual(['failed']);
    expect(bodies.length).toBe(1);
  });

  test('that cannot pass is not tried again', async () => {
    const { url, bodies } = vendor(() => new Response('{}', { status: 400 }));
    expect(types(await ask(url))).toEqual(['failed']);
    expect(bodies.length).toBe(1);
  });

  test('to connect is tried again', async () => {
    const closed = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    const url = `http://127.0.0.1:${closed.port}/`;
    await closed.stop(true);
    const events = await ask(url);
    expect(types(events)).toEqual(['retrying', 'retrying', 'failed']);
    expect(events.at(-1)).toMatchObject({
      fault: { code: 'provider_unavailable', message: 'The model cannot be reached (ECONNREFUSED).' },
    });
  });

  test('of an address that is none is told, not thrown', async () => {
    const events = await ask('not an address', { retry: { ...OPTIONS.retry, attempts: 1 } });
    expect(types(events)).toEqual(['failed']);
    expect(JSON.stringify(events)).not.toContain('not an address');
  });

  test('of an extra makes it ask in the plain form, once and at once', async () => {
    const { url, bodies } = vendor((_request, attempt) =>
      attempt === 1 ? new Response('too fancy', { status: 400 }) : sse('Plain', 'END'),
    );
    expect(types(await ask(url))).toEqual(['text', 'ended']);
    expect(bodies).toEqual([{ plain: false }, { plain: true }]);
    const stubborn = vendor(() => new Response('too fancy', { status: 400 }));
    expect(types(await ask(stubborn.url))).toEqual(['failed']);
    expect(stubborn.bodies.length).toBe(2);
  });

  test('that is called a success is still one', async () => {
    const { url } = vendor(
      () => new Response('<html>Welcome</html>', { headers: { 'content-type': 'text/html' } }),
    );
    expect(await ask(url)).toEqual([
      { type: 'failed', fault: { code: 'provider_rejected', message: 'Refused (200).' } },
    ]);
  });
});

describe('a stream', () => {
  test('that breaks after words were shown is begun again', async () => {
    const { url } = vendor((_request, attempt) =>
      attempt === 1 ? sse('Half', 'an') : sse('A', 'whole', 'answer', 'END'),
    );
    const events = await ask(url);
    expect(types(events)).toEqual(['text', 'retrying', 'text', 'ended']);
    expect(events[1]).toMatchObject({ fault: { code: 'provider_unavailable' } });
  });

  test('whose connection is lost is begun again', async () => {
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

  test('that falls silent is broken off, upstream too', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { url } = vendor((request) => {
      request.signal.addEventListener('abort', () => resolve());
      return new Response(silentAfter('data: Hm\n\n'), { headers: { 'content-type': 'text/event-stream' } });
    });
    const events = await ask(url, { idleMs: 30, retry: { ...OPTIONS.retry, attempts: 1 } });
    expect(types(events)).toEqual(['text', 'failed']);
    expect(events.at(-1)).toMatchObject({ fault: { message: 'The model was silent for too long.' } });
    await closed;
  });

  test('that does not begin is given the longer time, and no more', async () => {
    const { url } = vendor(async () => {
      await Bun.sleep(60);
      return sse('Late', 'END');
    });
    expect(types(await ask(url, { idleMs: 20 }))).toEqual(['text', 'ended']);
    const impatient = { firstByteMs: 20, retry: { ...OPTIONS.retry, attempts: 1 } };
    expect(types(await ask(url, impatient))).toEqual(['failed']);
  });

  test('with signs of life is not silent', async () => {
    const { url } = vendor(() => {
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          for (let count = 0; count < 30; count++) {
            controller.enqueue(new TextEncoder().encode(': still there\n\n'));
            await Bun.sleep(50);
          }
          controller.enqueue(new TextEncoder().encode('data: Done\n\ndata: END\n\n'));
          controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    expect(types(await ask(url, { idleMs: 1_000 }))).toEqual(['text', 'ended']);
  });
});

/** Says this, and then nothing more. */
const silentAfter = (said: string): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(said)) });

describe('cancelling', () => {
  test('closes the socket to the vendor', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { url } = vendor((request) => {
      request.signal.addEventListener('abort', () => resolve());
      return new Response(silentAfter('data: Well\n\n'), {
        headers: { 'content-type': 'text/event-stream' },
      });
    });
    const cancel = new AbortController();
    const events: ProviderEvent[] = [];
    // No silence is too long: nothing but the cancelling can close it.
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

  test('by leaving the loop closes the socket, too', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { url } = vendor((request) => {
      request.signal.addEventListener('abort', () => resolve());
      return new Response(silentAfter('data: Well\n\n'), {
        headers: { 'content-type': 'text/event-stream' },
      });
    });
    for await (const _event of httpProvider(words(url), OPTIONS).stream(
      PROMPT,
      new AbortController().signal,
    )) {
      break;
    }
    await closed;
  });

  test('before the beginning asks nobody', async () => {
    const { url, bodies } = vendor(() => sse('END'));
    expect(await ask(url, {}, AbortSignal.abort())).toEqual([
      { type: 'failed', fault: { code: 'cancelled', message: 'The answer was cancelled.' } },
    ]);
    expect(bodies.length).toBe(0);
  });

  test('while it waits to try again ends the waiting', async () => {
    const { url, bodies } = vendor(() => new Response('{}', { status: 503 }));
    const retry = { attempts: 3, firstDelayMs: 60_000, longestDelayMs: 60_000, random: () => 1 };
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

describe('the key', () => {
  test('is not sent on to another address', async () => {
    const elsewhere = vendor(() => sse('END'));
    const { url, bodies } = vendor(() => Response.redirect(elsewhere.url, 307));
    const events = await ask(url);
    expect(types(events)).toEqual(['failed']);
    expect(events[0]).toMatchObject({ fault: { code: 'provider_rejected' } });
    expect(bodies.length).toBe(1);
    expect(elsewhere.bodies.length).toBe(0);
  });

  test('that is wrong gives one sentence, and is in no event', async () => {
    const said = { error: { message: `Incorrect API key provided: ${KEY}.`, code: 'invalid_api_key' } };
    const { url, bodies } = vendor(() => Response.json(said, { status: 401 }));
    const wire = openaiChat({ key: KEY, baseUrl: `${url}v1`, model: 'gpt' });
    const events: ProviderEvent[] = [];
    const signal = new AbortController().signal;
    for await (const event of httpProvider(wire, OPTIONS).stream(PROMPT, signal)) events.push(event);
    expect(bodies.length).toBe(1);
    expect(JSON.stringify(events)).not.toContain(KEY);
    const message = `${new URL(url).host} refused the key: check OPENAI_API_KEY.`;
    expect(events).toEqual([{ type: 'failed', fault: { code: 'provider_rejected', message } }]);
  });
});
