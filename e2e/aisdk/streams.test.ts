/** What happens to the turn behind a stream: resuming, hang-ups, stops, answers that break off, and kills. */
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UIMessageChunk } from 'ai';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { cuttingProxy } from '../console/cutting-proxy.ts';
import { type DictatedModel, dictatedModel } from '../dictated-model.ts';
import { type Answer, fakeModel } from '../fake-model.ts';
import { rawReader } from '../raw-reader.ts';
import { durableOf, followed, startProcess, submit } from '../server-process.ts';
import {
  type Chat,
  chatWith,
  chunksOf,
  historyOf,
  idOf,
  post,
  shown,
  stateTypes,
  textOf,
  textsOf,
  typesOf,
  userMessage,
} from './client.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serverOf(settings: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer(settings);
  cleanups.push(() => server.stop());
  return server;
}

async function dictated(): Promise<{ readonly model: DictatedModel; readonly server: TestServer }> {
  const model = dictatedModel();
  cleanups.push(model.stop);
  return { model, server: await serverOf(model.settings) };
}

/** A server with a model that gives these answers, one after another. */
async function answering(...answers: Answer[]) {
  const model = fakeModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
  cleanups.push(model.stop);
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  return { model, settings, server: await serverOf(settings) };
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await Bun.sleep(10);
};

const shows = (chat: Chat, text: string) => until(() => textOf(chat.lastMessage) === text);

const stop = (http: string, id: string) => fetch(`${http}/api/chat/${id}/stop`, { method: 'POST' });
const resume = (http: string, id: string) => fetch(`${http}/api/chat/${id}/stream`);

test('text is streamed piece by piece, as the model speaks', async () => {
  const { model, server } = await dictated();
  model.say('One ');
  const pieces: string[] = [];
  await chunksOf(await post(server.http, { id: 'pieces', messages: [userMessage('count')] }), (chunk) => {
    if (chunk.type !== 'text-delta') return;
    pieces.push(chunk.delta);
    if (chunk.delta === 'One ') model.say('two ');
    if (chunk.delta !== 'two ') return;
    model.say('three');
    model.end();
  });
  expect(pieces).toEqual(['One ', 'two ', 'three']);
});

describe('a stream that is resumed', () => {
  test('brings the whole answer exactly once, with the same ids, for any number of readers', async () => {
    const { model, server } = await dictated();
    const id = 'resumed';
    const chat = chatWith({ server, id });
    const sent = chat.sendMessage({ text: 'count' });
    model.think('Hm. ');
    model.say('One ');
    await shows(chat, 'One ');
    const reloaded = chatWith({ server, id, messages: await historyOf(server.http, id) });
    // The history has the answer under way as far as it is known.
    expect(textsOf(reloaded)).toEqual(['user: count', 'assistant: One ']);
    const resumed = reloaded.resumeStream();
    const raw = chunksOf(await resume(server.http, id));
    model.say('two ');
    await Promise.all([shows(chat, 'One two '), shows(reloaded, 'One two ')]);
    model.say('three');
    model.end();
    await Promise.all([sent, resumed]);
    expect(textsOf(chat)).toEqual(['user: count', 'assistant: One two three']);
    expect(shown(reloaded.messages)).toEqual(shown(chat.messages));
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
    const chunks = await raw;
    expect(typesOf(chunks).filter((type, at, all) => type !== all[at - 1])).toEqual([
      'start',
      'start-step',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
    expect(idOf(chunks)).toBe(chat.lastMessage?.id ?? 'none');
    expect((await resume(server.http, id)).status).toBe(204);
  });

  test('has the earlier steps with their calls, too', async () => {
    const { model, server } = await dictated();
    const chat = chatWith({ server, id: 'steps' });
    const sent = chat.sendMessage({ text: 'echo' });
    model.say('Let me see. ');
    model.call('echo', { value: 'seen' });
    model.say('It ');
    await until(() => textOf(chat.lastMessage).endsWith('|It '));
    const reloaded = chatWith({ server, id: 'steps', messages: await historyOf(server.http, 'steps') });
    const resumed = reloaded.resumeStream();
    model.say('is.');
    await until(() => textOf(reloaded.lastMessage).endsWith('|It is.'));
    model.end();
    await Promise.all([sent, resumed]);
    expect(stateTypes(reloaded.lastMessage)).toEqual([
      'step-start',
      'text done',
      'dynamic-tool output-available',
      'step-start',
      'text done',
    ]);
    expect(shown(reloaded.messages)).toEqual(shown(chat.messages));
  });

  test('is not there for unknown chats', async () => {
    const { server } = await answering();
    const response = await resume(server.http, 'nobody');
    expect([response.status, await response.text()]).toEqual([204, '']);
  });
});

describe('a client that hangs up', () => {
  test('does not end the turn: its answer is complete when it comes back', async () => {
    const { model, server } = await dictated();
    const chat = chatWith({ server, id: 'left' });
    const sent = chat.sendMessage({ text: 'count' });
    model.say('One ');
    await shows(chat, 'One ');
    await chat.stop();
    await sent;
    expect(textOf(chat.lastMessage)).toBe('One ');
    model.say('two ');
    const resumed = chat.resumeStream();
    await shows(chat, 'One two ');
    model.say('three');
    model.end();
    await resumed;
    expect((await historyOf(server.http, 'left')).map(textOf)).toEqual(['count', 'One two three']);
    expect(textsOf(chat)).toEqual(['user: count', 'assistant: One two three']);
  });

  test('by a broken connection resumes the same message', async () => {
    const { model, server } = await dictated();
    const proxy = await cuttingProxy(server.http);
    cleanups.push(() => proxy.stop());
    const disconnects: boolean[] = [];
    const chat = chatWith({
      server: proxy,
      id: 'cut',
      onFinish: ({ isError }) => void disconnects.push(isError),
    });
    const sent = chat.sendMessage({ text: 'count' });
    model.say('One ');
    await shows(chat, 'One ');
    expect(proxy.cut()).toBeGreaterThan(0);
    await sent;
    model.say('two ');
    proxy.mend();
    const resumed = chat.resumeStream();
    await shows(chat, 'One two ');
    model.say('three');
    model.end();
    await resumed;
    expect(textsOf(chat)).toEqual(['user: count', 'assistant: One two three']);
    expect(shown(await historyOf(server.http, 'cut'))).toEqual(shown(chat.messages));
  });
});

describe('stop', () => {
  test('ends the turn and the request to the model; what was said is kept', async () => {
    const { model, server } = await answering({ say: 'Half an answer ', after: 'silence' }, { say: 'Next.' });
    const chat = chatWith({ server, id: 'stopped' });
    const sent = chat.sendMessage({ text: 'tell me' });
    await shows(chat, 'Half an answer ');
    expect((await stop(server.http, 'stopped')).status).toBe(204);
    await sent;
    await model.aborted;
    expect(chat.status).toBe('ready');
    const history = await historyOf(server.http, 'stopped');
    expect(history.map(textOf)).toEqual(['tell me', 'Half an answer ']);
    expect(shown(history)).toEqual(shown(chat.messages));
    await chat.sendMessage({ text: 'go on' });
    expect(textOf(chat.lastMessage)).toBe('Next.');
  });

  test('is an abort for all who read, and no failure where nothing runs', async () => {
    const { server } = await answering({ say: 'Half ', after: 'silence' });
    const first = await post(server.http, { id: 'all', messages: [userMessage('hi')] });
    const heard = Promise.withResolvers<void>();
    const read = chunksOf(first, (chunk: UIMessageChunk) => chunk.type === 'text-delta' && heard.resolve());
    await heard.promise;
    const second = chunksOf(await resume(server.http, 'all'));
    await stop(server.http, 'all');
    for (const chunks of [await read, await second]) expect(chunks.at(-1)).toEqual({ type: 'abort' });
    expect((await stop(server.http, 'all')).status).toBe(204);
    expect((await stop(server.http, 'nobody')).status).toBe(404);
  });
});

test('an answer that breaks off and is asked again resets its step', async () => {
  const { server } = await answering({ say: 'One thing ', after: 'cut' }, { say: 'Another thing.' });
  const chat = chatWith({ server, id: 'again' });
  await chat.sendMessage({ text: 'tell me' });
  expect(textsOf(chat)).toEqual(['user: tell me', 'assistant: Another thing.']);
  expect(shown(await historyOf(server.http, 'again'))).toEqual(shown(chat.messages));
  const again = await chunksOf(await post(server.http, { id: 'again', messages: chat.messages.slice(0, 1) }));
  expect(idOf(again)).toBe(chat.lastMessage?.id ?? 'none');
});

test('a message while a turn runs is queued, and each request is answered with its own turn', async () => {
  const { model, server } = await dictated();
  const first = chatWith({ server, id: 'queue' });
  const one = first.sendMessage({ text: 'first' });
  model.say('One');
  await shows(first, 'One');
  const second = chatWith({ server, id: 'queue', messages: structuredClone(first.messages) });
  const two = second.sendMessage({ text: 'second' });
  await followed(
    server,
    'queue',
    (events) => events.filter(({ type }) => type === 'input.accepted').length === 2,
  );
  expect((await historyOf(server.http, 'queue')).map(textOf)).toEqual(['first', 'One', 'second']);
  model.end();
  await one;
  model.say('Two');
  model.end();
  await two;
  expect(textOf(first.lastMessage)).toBe('One');
  expect(textOf(second.lastMessage)).toBe('Two');
  expect((await historyOf(server.http, 'queue')).map(textOf)).toEqual(['first', 'One', 'second', 'Two']);
});

describe('while an answer is streamed', () => {
  test('regenerate and edit end it and begin another', async () => {
    const { server } = await answering(
      { say: 'First ', after: 'silence' },
      { say: 'Second ', after: 'silence' },
      { say: 'Third.' },
    );
    const asked = userMessage('hi');
    const readUntil = async (body: object, text: string) => {
      const heard = Promise.withResolvers<void>();
      const see = (chunk: UIMessageChunk) =>
        chunk.type === 'text-delta' && chunk.delta === text && heard.resolve();
      const chunks = chunksOf(await post(server.http, { id: 'replaced', messages: [asked], ...body }), see);
      await heard.promise;
      return { chunks };
    };
    const first = await readUntil({}, 'First ');
    const second = await readUntil({ trigger: 'regenerate-message' }, 'Second ');
    expect((await first.chunks).at(-1)).toEqual({ type: 'abort' });
    const edited = { ...asked, parts: [{ type: 'text', text: 'hello' }] };
    const third = await readUntil({ messages: [edited], messageId: asked.id }, 'Third.');
    expect((await second.chunks).at(-1)).toEqual({ type: 'abort' });
    const ids = await Promise.all([first, second, third].map(async ({ chunks }) => idOf(await chunks)));
    expect(new Set(ids).size).toBe(3);
    expect((await historyOf(server.http, 'replaced')).map(textOf)).toEqual(['hello', 'Third.']);
  });

  test('the same edit again is the same turn', async () => {
    const { server } = await answering({ say: 'First.' }, { say: 'Second ', after: 'silence' });
    const asked = userMessage('hi');
    await chunksOf(await post(server.http, { id: 'twice', messages: [asked] }));
    const edited = { ...asked, parts: [{ type: 'text', text: 'hello' }] };
    const body = { id: 'twice', messages: [edited], messageId: asked.id };
    const [one, two] = await Promise.all([post(server.http, body), post(server.http, body)]);
    await stop(server.http, 'twice');
    expect(idOf(await chunksOf(one))).toBe(idOf(await chunksOf(two)) ?? 'none');
    const events = await durableOf(server, 'twice');
    expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(2);
  });
});

test('a long turn is replayed whole to a reader that pauses', async () => {
  const value = 'x'.repeat(150_000);
  const calls = Array.from({ length: 40 }, () => ['echo', { value }] as const);
  const model = fakeModel((_, count) => (count === 1 ? { calls } : { say: 'Half ', after: 'silence' }));
  cleanups.push(model.stop);
  const server = await serverOf({
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    CONTEXT_LIMIT: '100000000',
    PARLANCE_ANSWER_CHARACTERS: '100000000',
  });
  await submit(server, 'long', 'go');
  await until(() => model.requests.length === 2);
  const slow = await rawReader(server.http, '/api/chat/long/stream', 'text/event-stream');
  slow.stopReading();
  await chunksOf(await resume(server.http, 'long'), async (chunk) => {
    if (chunk.type === 'text-delta') await stop(server.http, 'long');
  });
  slow.goOn();
  await slow.until((text) => text.includes('[DONE]'));
  const chunks = slow.texts.join('').match(/"type":"tool-output-available"/g);
  expect(chunks).toHaveLength(40);
  expect(slow.texts.join('')).toContain('{"type":"abort"}');
  slow.end();
});

test('a chat that is deleted ends its streams', async () => {
  const { model, server } = await dictated();
  model.say('Half ');
  const chat = chatWith({ server, id: 'deleted' });
  const sent = chat.sendMessage({ text: 'hi' });
  await shows(chat, 'Half ');
  await fetch(`${server.http}/v1/sessions/deleted`, { method: 'DELETE' });
  await sent;
  expect((await fetch(`${server.http}/api/chat/deleted`)).status).toBe(404);
});

test('after a kill the answer goes on under the same id, and is there exactly once', async () => {
  const model = dictatedModel();
  cleanups.push(model.stop);
  const folder = mkdtempSync(join(tmpdir(), 'parlance-aisdk-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const first = await startProcess(folder, model.settings);
  const chat = chatWith({ server: first, id: 'killed' });
  const sent = chat.sendMessage({ text: 'count' });
  model.say('Lost ');
  await shows(chat, 'Lost ');
  const { id } = chat.lastMessage ?? {};
  await first.kill();
  await sent;
  expect(chat.status).not.toBe('streaming');

  const second = await startProcess(folder, model.settings);
  cleanups.push(() => second.kill());
  const messages = await historyOf(second.http, 'killed');
  model.say('One ');
  const reloaded = chatWith({ server: second, id: 'killed', messages });
  const resumed = reloaded.resumeStream();
  await shows(reloaded, 'One ');
  model.say('two');
  model.end();
  await resumed;
  expect(textsOf(reloaded)).toEqual(['user: count', 'assistant: One two']);
  expect(reloaded.lastMessage?.id).toBe(id ?? 'none');
  expect(shown(await historyOf(second.http, 'killed'))).toEqual(shown(reloaded.messages));
  // Posted again, the message is still the same turn.
  const again = await chunksOf(
    await post(second.http, { id: 'killed', messages: reloaded.messages.slice(0, 1) }),
  );
  expect(idOf(again)).toBe(id ?? 'none');
  const events = await durableOf(second, 'killed');
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
}, 60_000);

test('a session that another dialect runs can be resumed', async () => {
  const { model, server } = await dictated();
  await submit(server, 'native', 'count');
  const chat = chatWith({ server, id: 'native', messages: await historyOf(server.http, 'native') });
  model.say('One ');
  const resumed = chat.resumeStream();
  await shows(chat, 'One ');
  model.say('two');
  model.end();
  await resumed;
  expect(textsOf(chat)).toEqual(['user: count', 'assistant: One two']);
});
