/** Streams opened with an API key end when the key is revoked, in every dialect with streams. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { within } from '../../packages/server/src/testing/until.ts';
import { modern } from '../mcp/raw.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { postJson } from '../server-process.ts';
import { bearer } from './live.ts';

let model: ScriptedModel;
let second = Promise.withResolvers<void>();

/** An answer that does not end. */
async function* answer(): AsyncGenerator<string> {
  yield 'first ';
  await second.promise;
  yield 'second ';
  await new Promise(() => undefined);
}
let server: TestServer;
let dev: Record<string, string>;
beforeAll(async () => {
  model = scriptedModel(() => ({ stream: answer() }));
  server = await startTestServer({ ...model.settings, PARLANCE_API_REQUESTS_PER_MINUTE: '100000' });
  dev = bearer(await server.login('dev', 'dev-password'));
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

type Opening = {
  readonly method?: string;
  readonly path: string;
  readonly body?: object;
  readonly headers?: object;
};

const user = (text: string) => ({ id: crypto.randomUUID(), role: 'user', content: text });
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const chat = (path: string, more: object = {}) => ({
  path,
  body: { model: 'parlance', stream: true, messages: [{ role: 'user', content: 'hi' }], ...more },
});
const send = { name: 'send_message', arguments: { text: 'hi' }, _meta: { progressToken: 1 } };

/** A request of each dialect that is answered with a stream. */
const STREAMS: Readonly<Record<string, () => Opening>> = {
  a2a: () => ({
    path: '/a2a',
    body: rpc('SendStreamingMessage', {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] },
    }),
  }),
  agui: () => ({
    path: '/agui',
    body: { threadId: crypto.randomUUID(), runId: crypto.randomUUID(), messages: [user('hi')] },
  }),
  aisdk: () => ({
    path: '/api/chat',
    body: {
      id: crypto.randomUUID(),
      messages: [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    },
  }),
  'anthropic messages': () => chat('/anthropic/v1/messages', { max_tokens: 1_000 }),
  'mcp 2025': () => ({ path: '/mcp', body: rpc('tools/call', send) }),
  'mcp 2026': () => {
    const { _meta, ...params } = send;
    const request = modern('tools/call', params) as { params: { _meta: object } };
    return {
      path: '/mcp',
      body: { ...request, params: { ...request.params, _meta: { ..._meta, ...request.params._meta } } },
    };
  },
  'openai chat': () => chat('/openai/v1/chat/completions'),
  'openai responses': () => ({
    path: '/openai/v1/responses',
    body: { model: 'parlance', stream: true, input: 'hi' },
  }),
};

async function newKey(dialects?: string[]): Promise<{ readonly id: string; readonly key: string }> {
  const { status, body } = await postJson(`${server.http}/v1/keys`, { name: 'stream', dialects }, dev);
  expect(status).toBe(201);
  return { id: String(body.id), key: String(body.key) };
}

class Stream {
  text = '';
  readonly ended: Promise<void>;
  #changed = Promise.withResolvers<void>();

  constructor({ body }: Response) {
    this.ended = this.#read(body);
  }

  /** Resolves when the text matches often enough; rejects if the stream ends before. */
  async has(words: string, times: number): Promise<void> {
    while (this.text.split(words).length <= times) {
      const over = this.ended.then(() => Promise.reject(new Error(`the stream ended: ${this.text}`)));
      await within(Promise.race([this.#changed.promise, over]), `${times} × ${words} is not in ${this.text}`);
    }
  }

  async #read(body: Response['body']): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body ?? []) {
        this.text += decoder.decode(chunk, { stream: true });
        this.#changed.resolve();
        this.#changed = Promise.withResolvers();
      }
    } catch {
      // A cut connection counts as an end.
    }
  }
}

const request = ({ path, body, headers }: Opening, key: string) =>
  fetch(server.http + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'anthropic-version': '2023-06-01',
      ...bearer(key),
      ...headers,
    },
    body: JSON.stringify(body),
  });

test.each(Object.keys(STREAMS))('%s', async (name) => {
  const opening = STREAMS[name];
  if (!opening) throw new Error('no request');
  second = Promise.withResolvers();
  const [one, other] = [await newKey(), await newKey()];
  const [stream, kept] = [
    new Stream(await request(opening(), one.key)),
    new Stream(await request(opening(), other.key)),
  ];
  await Promise.all([stream.has('first', 1), kept.has('first', 1)]);
  const revoked = await fetch(`${server.http}/v1/keys/${one.id}`, { method: 'DELETE', headers: dev });
  expect(revoked.status).toBe(204);
  await stream.ended;
  second.resolve();
  await kept.has('second', 1);
  expect(stream.text).not.toContain('second');
  expect((await request(opening(), one.key)).status).toBe(401);
  expect((await request(opening(), (await newKey(['native'])).key)).status).toBe(403);
  await fetch(`${server.http}/v1/keys/${other.id}`, { method: 'DELETE', headers: dev });
  await kept.ended;
});

test('mcp notifications', async () => {
  const [one, other] = [await newKey(), await newKey()];
  const open = async (key: string) =>
    new Stream(
      await fetch(`${server.http}/mcp`, { headers: { accept: 'text/event-stream', ...bearer(key) } }),
    );
  const [stream, kept] = [await open(one.key), await open(other.key)];
  const changes = async (session: string) => {
    await postJson(`${server.http}/v1/sessions/${session}/commands`, { type: 'session.create' }, dev);
  };
  await changes('one');
  await Promise.all([stream, kept].map((each) => each.has('list_changed', 1)));
  await fetch(`${server.http}/v1/keys/${one.id}`, { method: 'DELETE', headers: dev });
  await stream.ended;
  await changes('two');
  await kept.has('list_changed', 2);
  await fetch(`${server.http}/v1/keys/${other.id}`, { method: 'DELETE', headers: dev });
  await kept.ended;
});

test('acp sockets', async () => {
  const [one, other] = [await newKey(), await newKey()];
  const [socket, kept] = await Promise.all(
    [one, other].map(({ key }) => server.connect('/acp', bearer(key))),
  );
  const list = { jsonrpc: '2.0', id: 1, method: 'session/list', params: {} };
  for (const each of [socket, kept]) {
    each?.send(list);
    await each?.next(({ result }) => result !== undefined);
  }
  await fetch(`${server.http}/v1/keys/${one.id}`, { method: 'DELETE', headers: dev });
  expect(await socket?.closed).toMatchObject({ code: 1008, reason: 'The API key was revoked.' });
  kept?.send(list);
  await kept?.next(({ result }) => result !== undefined);
  const scoped = await server.connect('/acp', bearer((await newKey(['native'])).key));
  expect(await scoped.closed).toMatchObject({ reason: 'The API key is limited to other dialects' });
});
