/** The turn of a stream: stops, interrupted answers, queues and replacements. */
import { afterEach, describe, expect, test } from 'bun:test';
import type { UIMessageChunk } from 'ai';
import { until } from '../../packages/server/src/testing/until.ts';
import { rawReader } from '../raw-reader.ts';
import { dictatedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed, submit } from '../server-process.ts';
import { chatWith, chunksOf, historyOf, idOf, post, shown, textOf, textsOf, userMessage } from './client.ts';
import { answering, cleanedUp, cleanUp, dictated, resume, serverOf, shows, stop } from './turns.ts';

afterEach(cleanedUp);

test('text is streamed while the model writes it', async () => {
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

describe('stop', () => {
  test('ends the turn and the model request; the text so far is kept', async () => {
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

  test('is an abort for all readers, and succeeds if nothing runs', async () => {
    const { server } = await answering({ say: 'Half ', after: 'silence' });
    const first = await post(server.http, { id: 'all', messages: [userMessage('hi')] });
    const received = Promise.withResolvers<void>();
    const read = chunksOf(
      first,
      (chunk: UIMessageChunk) => chunk.type === 'text-delta' && received.resolve(),
    );
    await received.promise;
    const second = chunksOf(await resume(server.http, 'all'));
    await stop(server.http, 'all');
    for (const chunks of [await read, await second]) expect(chunks.at(-1)).toEqual({ type: 'abort' });
    expect((await stop(server.http, 'all')).status).toBe(204);
    expect((await stop(server.http, 'nobody')).status).toBe(404);
  });
});

test('an interrupted answer that is retried resets its step', async () => {
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
  test('regenerate and edit end it and start another', async () => {
    const { server } = await answering(
      { say: 'First ', after: 'silence' },
      { say: 'Second ', after: 'silence' },
      { say: 'Third.' },
    );
    const asked = userMessage('hi');
    const readUntil = async (body: object, text: string) => {
      const received = Promise.withResolvers<void>();
      const see = (chunk: UIMessageChunk) =>
        chunk.type === 'text-delta' && chunk.delta === text && received.resolve();
      const chunks = chunksOf(await post(server.http, { id: 'replaced', messages: [asked], ...body }), see);
      await received.promise;
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

  test('a repeated edit is the same turn', async () => {
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
  const model = scriptedModel((_, count) => (count === 1 ? { calls } : { say: 'Half ', after: 'silence' }));
  cleanUp(model.stop);
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
  slow.resume();
  await slow.until((text) => text.includes('[DONE]'));
  const chunks = slow.texts.join('').match(/"type":"tool-output-available"/g);
  expect(chunks).toHaveLength(40);
  expect(slow.texts.join('')).toContain('{"type":"abort"}');
  slow.end();
});

test('a reader that is too slow gets an error, and a reload has the whole answer', async () => {
  const model = dictatedModel();
  cleanUp(model.stop);
  const server = await serverOf({
    ...model.settings,
    CONTEXT_LIMIT: '100000000',
    PARLANCE_ANSWER_CHARACTERS: '100000000',
    PARLANCE_HELD_CHARACTERS: '100000',
  });
  model.say('Begin. ');
  await submit(server, 'slow', 'go');
  const slow = await rawReader(server.http, '/api/chat/slow/stream', 'text/event-stream');
  await slow.until((text) => text.includes('Begin.'));
  slow.stopReading();
  // The kernel buffers about four megabytes for a reader.
  const words = Array.from({ length: 200 }, (_, index) => `${index}${'.'.repeat(50_000)} `);
  for (const word of words) model.say(word);
  model.end();
  await followed(server, 'slow', (events) => events.some(({ type }) => type === 'turn.ended'));
  slow.resume();
  await slow.until((text) => text.includes('[DONE]'));
  const [, last] = /data: (\{[^\n]*\})\s+data: \[DONE\]/.exec(slow.texts.join('').slice(-1_000)) ?? [];
  expect(JSON.parse(last ?? '{}')).toEqual({
    type: 'error',
    errorText: 'The connection is too slow for this answer: reload the chat.',
  });
  slow.end();
  const [, answer] = await historyOf(server.http, 'slow');
  expect(textOf(answer) === `Begin. ${words.join('')}`).toBeTrue();
});

test('deleting a chat ends its streams', async () => {
  const { model, server } = await dictated();
  model.say('Half ');
  const chat = chatWith({ server, id: 'deleted' });
  const sent = chat.sendMessage({ text: 'hi' });
  await shows(chat, 'Half ');
  await fetch(`${server.http}/v1/sessions/deleted`, { method: 'DELETE' });
  await sent;
  expect((await fetch(`${server.http}/api/chat/deleted`)).status).toBe(404);
});
