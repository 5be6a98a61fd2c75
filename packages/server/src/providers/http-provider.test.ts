import { afterEach, describe, expect, test } from 'bun:test';
import type { ProviderEvent } from '../core/ports/provider.ts';
import { closePeers, peer, turns } from '../testing/providers/http/peer.ts';
import {
  ask,
  closeVendors,
  KEY,
  OPTIONS,
  PROMPT,
  sse,
  types,
  vendor,
  words,
} from '../testing/providers/vendor.ts';
import { until } from '../testing/until.ts';
import { httpProvider } from './http-provider.ts';
import { openaiChat } from './openai-chat.ts';

afterEach(closeVendors);
afterEach(closePeers);

describe('an answer', () => {
  test('is streamed, with deltas that arrive together joined, and ends once', async () => {
    const { url } = vendor(() => sse('Hello', 'there', 'END', 'after the end'));
    expect(await ask(url)).toEqual([
      { type: 'text', text: 'Hellothere' },
      { type: 'ended', usage: { inputTokens: 1, outputTokens: 1 }, stop: 'done' },
    ]);
  });

  test('ends once even if it is cancelled at its end', async () => {
    const { url } = vendor(() => sse('Hello', 'END'));
    const cancel = new AbortController();
    const seen: string[] = [];
    for await (const event of httpProvider(words(url), OPTIONS).stream(PROMPT, cancel.signal)) {
      seen.push(event.type);
      if (event.type === 'ended') cancel.abort();
    }
    expect(seen).toEqual(['text', 'ended']);
  });

  test('that makes the adapter throw is a bug, not a lost connection', async () => {
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

describe('deltas', () => {
  /** A vendor that sends each of these on request. */
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

  test('are offered when they arrive, and are not events if they were taken', async () => {
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
    // The first one arrives with the start of the answer, when no consumer waits yet.
    for (const word of ['first', 'one', 'no', 'two', 'END']) {
      heard = Promise.withResolvers();
      await say(word);
      await heard.promise;
    }
    await listening;
    expect(seen).toEqual(['event first', 'text one', 'event no', 'text two', 'ended']);
  });

  test('are not offered while an event is processed, and stay in order', async () => {
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
    for (let round = 0; round < 5; round++) {
      release = Promise.withResolvers();
      await say('stop ');
      await until(() => seen.endsWith('stop '));
      await say('one ');
      await say('two ');
      await Bun.sleep(10); // so that they have usually arrived
      release.resolve();
      await until(() => seen.endsWith('two '));
      await say('free ');
      await until(() => seen.endsWith('free '));
    }
    await say('END');
    await listening;
    expect(seen).toBe('stop one two free '.repeat(5));
    expect(offered.busy).toBe(0);
    expect(offered.waiting).toBeGreaterThanOrEqual(5);
  });
});

describe('the connection', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const LAST = chunk('');

  test('is reused, although the stream ends later than the answer', async () => {
    const target = peer((visit) => void visit.say(HEAD, chunk('data: Hello\n\ndata: END\n\n')));
    let closed = 0;
    // A connection is reused once the end of its stream has arrived, which happens eventually.
    while (target.visits.every(({ requests }) => requests.length < 2)) {
      expect(types(await ask(`${target.url}/`))).toEqual(['text', 'ended']);
      const visit = target.visits.at(-1);
      void visit?.closed.then(() => closed++);
      visit?.say(LAST);
      await turns(5);
      expect(closed).toBe(0);
    }
  });

  test('is closed if the answer fails before its end', async () => {
    const target = peer((visit) => void visit.say(HEAD, chunk('data: BUG\n\n')));
    expect(types(await ask(`${target.url}/`))).toEqual(['failed']);
    await target.visits[0]?.say(LAST).closed;
  });
});

describe('the key', () => {
  test('is not sent to another address', async () => {
    const elsewhere = vendor(() => sse('END'));
    const { url, bodies } = vendor(() => Response.redirect(elsewhere.url, 307));
    const events = await ask(url);
    expect(types(events)).toEqual(['failed']);
    expect(events[0]).toMatchObject({ fault: { code: 'provider_rejected' } });
    expect(bodies.length).toBe(1);
    expect(elsewhere.bodies.length).toBe(0);
  });

  test('that is wrong is reported in the words of the vendor, and is in no event', async () => {
    const said = { error: { message: `Incorrect API key provided: ${KEY}.`, code: 'invalid_api_key' } };
    const { url, bodies } = vendor(() => Response.json(said, { status: 401 }));
    const api = openaiChat({ key: KEY, baseUrl: `${url}v1`, model: 'gpt' });
    const events: ProviderEvent[] = [];
    const signal = new AbortController().signal;
    for await (const event of httpProvider(api, OPTIONS).stream(PROMPT, signal)) events.push(event);
    expect(bodies.length).toBe(1);
    expect(JSON.stringify(events)).not.toContain(KEY);
    const message = `${new URL(url).host} refused the key: Incorrect API key provided: [key]. Check OPENAI_API_KEY.`;
    expect(events).toEqual([
      { type: 'failed', fault: { code: 'provider_rejected', message, vendorStatus: 401 } },
    ]);
  });
});
