/**
 * `conversations`: cases in which the stream of a closed socket is inherited by name, by another user, or not
 * at all.
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
import { type DictatedModel, dictatedModel, type GatedModel, gatedModel } from './scripted-model.ts';

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

  test('is sent from its beginning to a socket that names it, and to no other', async () => {
    const first = await server.open('uma');
    const id = await reading(first, 'one ');
    await server.cut(first, id);
    const named = await server.open('uma', `&session=${id}`);
    expect(textOf(await settled(named))).toBe('one ');
    expect(await settled(await server.open('uma'))).toEqual([]);
    model.say('two');
    model.end();
    await rest(named);
    expect(textOf(named.frames)).toBe('one two');
  });

  test('that has ended: a socket that names it receives the whole answer as one chunk, and its end', async () => {
    const first = await server.open('uma');
    const id = await reading(first, 'one ');
    const watcher = await server.open('ada', `&session=${id}`);
    await server.cut(first, id);
    model.say('two');
    model.end();
    await rest(watcher);
    const frames = await settled(await server.open('uma', `&session=${id}`));
    expect(frames.map(({ type }) => type)).toEqual([
      'message_chunk',
      'message_complete',
      'workflow_step_complete',
    ]);
    expect([textOf(frames), payloadOf(frames[1]).content]).toEqual(['one two', 'one two']);
  });

  test('right after the input: the next socket receives the whole answer', async () => {
    const first = await server.open('uma');
    const id = await started(first);
    write(first, id);
    first.close();
    await first.closed;
    const second = await server.open('uma');
    model.say('all of it');
    model.end();
    const frames = await rest(second);
    expect(frames.map(({ type }) => type).slice(0, 2)).toEqual(['agent_selected', 'workflow_step_start']);
    expect(textOf(frames)).toBe('all of it');
  });

  test('that is idle is not inherited', async () => {
    const first = await server.open('uma');
    const id = await reading(first, 'all of it');
    model.end();
    await rest(first);
    await server.cut(first, id);
    const second = await server.open('uma');
    const other = await server.open('uma', `&session=${id}`);
    write(other, id);
    model.say('more');
    model.end();
    await rest(other);
    expect(await settled(second)).toEqual([]);
  });

  test('that an admin watched continues on the admin’s next socket, not on the owner’s', async () => {
    const owner = await server.open('uma');
    const id = await reading(owner, 'one ');
    const watcher = await server.open('ada', `&session=${id}`);
    await reads(watcher, 'one ');
    await server.cut(watcher, id);
    const [other, again] = [await server.open('uma'), await server.open('ada')];
    model.say('two');
    model.end();
    expect(textOf(await rest(again))).toBe('two');
    expect(await settled(other)).toEqual([]);
  });
});

describe('several conversations of one socket', () => {
  let model: GatedModel;
  beforeAll(async () => {
    model = gatedModel();
    server = await serveConversations(model.settings);
  });
  afterAll(async () => {
    await server.stop();
    await model.stop();
  });

  test('all continue on the next socket, each from its position', async () => {
    const first = await server.open('uma');
    const ids = [await started(first), await started(first), await started(first)];
    for (const id of ids.slice(0, 2)) {
      write(first, id);
      await reads(first, 'Half ');
    }
    await server.cut(first, String(ids[2]));
    const second = await server.open('uma');
    model.release();
    for (let ended = 0; ended < 2; ended++) await second.next('workflow_step_complete');
    expect(ids.map((id) => textOf(second.frames, id))).toEqual(['and whole.', 'and whole.', '']);
  });
});
