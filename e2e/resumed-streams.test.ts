/**
 * `conversations`: unsent text of a closed socket continues on the next socket of its user, from the next character.
 * The test controls the model.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestClient } from '../packages/server/src/testing/client.ts';
import {
  type ConversationsServer,
  payloadOf,
  reads,
  serveConversations,
  settled,
  started,
  textOf,
  write,
} from './conversations-server.ts';
import { type DictatedModel, dictatedModel } from './scripted-model.ts';

let server: ConversationsServer;

describe('a conversation whose socket closed', () => {
  let model: DictatedModel;
  beforeAll(async () => {
    model = dictatedModel();
    server = await serveConversations(model.settings);
  });
  afterAll(async () => {
    await server.stop();
    model.stop();
  });

  /** Starts a conversation; resolves when the client has read this text. */
  async function reading(client: TestClient, text: string): Promise<string> {
    const id = await started(client);
    write(client, id);
    model.say(text);
    await reads(client, text);
    return id;
  }

  /** The frames up to the end of the turn. */
  const rest = (client: TestClient) => client.until('workflow_step_complete');

  test('continues on the next socket from the next character; no other socket receives any of it', async () => {
    const [first, bystander] = [await server.open('uma'), await server.open('uma')];
    const id = await reading(first, 'one two ');
    await server.cut(first, id);
    const [foreign, admin] = [await server.open('dev'), await server.open('ada')];
    const second = await server.open('uma');
    const third = await server.open('uma');
    model.say('three ');
    await reads(second, 'three ');
    model.say('four');
    model.end();
    const frames = await rest(second);
    expect(textOf(frames)).toBe('four');
    expect(frames.map(({ type }) => type)).toEqual([
      'message_chunk',
      'message_complete',
      'workflow_step_complete',
    ]);
    expect(payloadOf(frames[1]).content).toBe('one two three four');
    expect(textOf(first.frames) + textOf(second.frames)).toBe('one two three four');
    for (const other of [bystander, foreign, admin, third]) expect(await settled(other)).toEqual([]);
  });

  // Text that is in flight when a client closes its socket is discarded by that client: the model is silent then.
  test('with a closing handshake continues without a gap, under the same message id', async () => {
    const first = await server.open('uma');
    const id = await reading(first, 'one ');
    first.close();
    await first.closed;
    const second = await server.open('uma');
    model.say('two');
    model.end();
    const frames = await rest(second);
    expect(textOf(frames)).toBe('two');
    const [begun] = first.frames.filter(({ type }) => type === 'message_chunk');
    const complete = frames.find(({ type }) => type === 'message_complete');
    const { messageId } = payloadOf(begun);
    expect(complete).toMatchObject({ conversationId: id, payload: { messageId, content: 'one two' } });
    write(second, id);
    model.say('again');
    model.end();
    expect(textOf(await rest(second))).toBe('again');
  });

  test('that continued before a reconnect: nothing is missing and nothing is repeated', async () => {
    const first = await server.open('uma');
    const id = await reading(first, 'one ');
    const watcher = await server.open('ada', `&session=${id}`);
    await server.cut(first, id);
    model.say('two ');
    await reads(watcher, 'one two ');
    const second = await server.open('uma');
    await reads(second, 'two ');
    model.say('three');
    model.end();
    await rest(second);
    expect(textOf(second.frames)).toBe('two three');
  });

  test('that ended before a reconnect: the rest and message_complete are sent once', async () => {
    const first = await server.open('uma');
    const id = await reading(first, 'one ');
    const watcher = await server.open('ada', `&session=${id}`);
    await server.cut(first, id);
    model.say('two ');
    model.say('three');
    model.end();
    await rest(watcher);
    const second = await server.open('uma');
    const frames = await settled(second);
    expect(frames.map(({ type }) => type)).toEqual([
      'message_chunk',
      'message_complete',
      'workflow_step_complete',
    ]);
    expect(textOf(frames)).toBe('two three');
    expect(payloadOf(frames[1]).content).toBe('one two three');
    expect(await settled(await server.open('uma'))).toEqual([]);
  });

  test('continues after a second cut, immediate or later', async () => {
    const first = await server.open('uma');
    const id = await reading(first, 'one ');
    await server.cut(first, id);
    const second = await server.open('uma');
    await settled(second);
    await server.cut(second, id);
    const third = await server.open('uma');
    model.say('two ');
    await reads(third, 'two ');
    await server.cut(third, id);
    const fourth = await server.open('uma');
    model.say('three');
    model.end();
    await rest(fourth);
    const texts = [first, second, third, fourth].map(({ frames }) => textOf(frames));
    expect(texts).toEqual(['one ', '', 'two ', 'three']);
  });

  test('stays inherited: the next turn is sent as well', async () => {
    const first = await server.open('uma');
    const id = await reading(first, 'one');
    await server.cut(first, id);
    const second = await server.open('uma');
    model.end();
    await rest(second);
    const other = await server.open('uma', `&session=${id}`);
    write(other, id);
    model.say('again');
    model.end();
    expect(textOf(await rest(second))).toBe('again');
  });

  test('while another socket stays open: both the starting and the writing socket continue', async () => {
    const [first, writer] = [await server.open('uma'), await server.open('uma')];
    const id = await started(first);
    write(writer, id);
    model.say('one ');
    await Promise.all([reads(first, 'one '), reads(writer, 'one ')]);
    await server.cut(first, id);
    const second = await server.open('uma');
    model.say('two ');
    await Promise.all([reads(second, 'two '), reads(writer, 'two ')]);
    await server.cut(writer, id);
    const third = await server.open('uma');
    model.say('three');
    model.end();
    expect(textOf(await rest(second))).toBe('three');
    expect(textOf(await rest(third))).toBe('three');
  });

  test('with a pending approval: only the next socket receives the request, with the same id', async () => {
    const first = await server.open('dev');
    const id = await started(first);
    write(first, id);
    model.say('I will touch it.');
    model.call('shell', { command: ['touch', 'inherited.txt'] });
    const asked = await first.next('tool_approval_required');
    await server.cut(first, id);
    const second = await server.open('dev');
    expect(await settled(second)).toEqual([asked]);
    expect(await settled(await server.open('dev'))).toEqual([]);
    const { requestId } = payloadOf(asked);
    second.send({ type: 'approve_tool', conversationId: id, requestId, payload: { approved: true } });
    expect(payloadOf(await second.next('tool_executed'))).toMatchObject({ requestId, success: true });
    model.say('Done.');
    model.end();
    expect(textOf(await rest(second))).toBe('\n\nDone.');
  });

  test('that requests an approval before a reconnect requests it once', async () => {
    const first = await server.open('dev');
    const id = await reading(first, 'I will touch it.');
    const watcher = await server.open('ada', `&session=${id}`);
    await server.cut(first, id);
    model.call('shell', { command: ['touch', 'later.txt'] });
    const asked = await watcher.next('tool_approval_required');
    const second = await server.open('dev');
    expect(await settled(second)).toEqual([asked]);
    second.send({ type: 'cancel_stream', conversationId: id });
    await second.next('error');
  });
});
