import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyFrame, TestClient } from '../../testing/client.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

const chat = (message: unknown, session_id?: unknown) => ({ type: 'chat', message, session_id });

/** Frames of one session: a socket receives all sessions of its principal, including those of other tests. */
const of = (session: string) => (frame: AnyFrame) => frame.session_id === session;

async function turn(client: TestClient, message: string, session: string) {
  client.send(chat(message, session));
  const frames = await client.until((frame) => of(session)(frame) && /agent_message|error/.test(frame.type));
  return frames.filter(of(session));
}

describe('approvals', () => {
  const isQuestion = (frame: AnyFrame) =>
    frame.type === 'agent_message' && String(frame.message).endsWith(' Allow it? Answer yes or no.');

  test('a waiting turn is announced, also as a message; yes runs it, and is echoed', async () => {
    const client = await server.connect('/ws');
    client.send(chat('run touch b-yes.txt', 'b-yes'));
    const waiting = await client.next((frame) =>
      String(frame.reasoning).startsWith('Waiting for approval: '),
    );
    expect(waiting).toMatchObject({ type: 'agent_thinking', session_id: 'b-yes' });
    expect(await client.next('agent_message')).toEqual({
      type: 'agent_message',
      message: expect.stringMatching(/^Runs touch b-yes.txt[^.]*\. Allow it\? Answer yes or no\.$/),
      session_id: 'b-yes',
    });
    const frames = await turn(client, ' Yes ', 'b-yes');
    expect(frames.map((frame) => frame.type)).toEqual([
      'user_message',
      'tool_call',
      'tool_result',
      'agent_message',
    ]);
    expect(existsSync(join(server.root, 'b-yes.txt'))).toBe(true);
  });

  test.each([
    ['Yes.', true],
    ['YES!', true],
    ['ok', true],
    ['No.', false],
  ])('%s answers it', async (word, runs) => {
    const client = await server.connect('/ws');
    const name = `b-word-${Bun.hash(word)}`;
    client.send(chat(`run touch ${name}`, name));
    await client.next(isQuestion);
    client.send(chat(word, name));
    // A reply that is neither yes nor no is queued, and the question is repeated.
    const next = await client.next((frame) => ['agent_thinking', 'tool_result'].includes(frame.type));
    expect(next).toMatchObject({ type: 'tool_result', success: runs });
    expect(existsSync(join(server.root, name))).toBe(runs);
  });

  test('no prevents it', async () => {
    const client = await server.connect('/ws');
    client.send(chat('run touch b-no.txt', 'b-no'));
    await client.next(isQuestion);
    const frames = await turn(client, 'n', 'b-no');
    expect(frames.find((frame) => frame.type === 'tool_result')).toMatchObject({ success: false });
    expect(existsSync(join(server.root, 'b-no.txt'))).toBe(false);
  });

  test('of concurrent replies the first is the answer, and the others are messages', async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => server.connect('/ws')));
    const [first] = clients;
    if (!first) throw new Error('expected four clients');
    first.send(chat('run touch b-once.txt', 'b-once'));
    await first.next((frame) => of('b-once')(frame) && isQuestion(frame));
    for (const client of clients) client.send(chat('yes', 'b-once'));
    const frames: AnyFrame[] = [];
    for (const _ of clients)
      frames.push(...(await first.until((frame) => of('b-once')(frame) && frame.type === 'agent_message')));
    const said = frames.filter(of('b-once')).map((frame) => frame.type);
    expect(said.filter((type) => type === 'user_message')).toHaveLength(4);
    expect(said.filter((type) => type === 'tool_call')).toHaveLength(1);
    expect(clients.flatMap((client) => client.frames.filter((frame) => frame.type === 'error'))).toEqual([]);
  });

  test('a second yes sent before the next question does not answer it', async () => {
    const client = await server.connect('/ws');
    client.send(chat('run touch b-k5.txt and then run touch b-k6.txt', 'b-twice'));
    await client.next(isQuestion);
    client.send(chat('yes', 'b-twice'));
    client.send(chat('yes', 'b-twice'));
    expect(String((await client.next(isQuestion)).message)).toContain('b-k6.txt');
    // The second yes has been read: it is queued behind the question, which is repeated.
    const next = await client.next(
      (frame) => String(frame.reasoning).startsWith('Waiting for approval: ') || frame.type === 'tool_result',
    );
    expect(next).toMatchObject({ type: 'agent_thinking', session_id: 'b-twice' });
    await turn(client, 'no', 'b-twice');
    expect(existsSync(join(server.root, 'b-k5.txt'))).toBe(true);
    expect(existsSync(join(server.root, 'b-k6.txt'))).toBe(false);
  });

  test('any other message is queued, and the pending request is repeated', async () => {
    const client = await server.connect('/ws');
    client.send(chat('run touch b-later.txt', 'b-later'));
    await client.next((frame) => String(frame.reasoning).startsWith('Waiting'));
    await client.next(isQuestion);
    client.send(chat('echo queued', 'b-later'));
    await client.next((frame) => String(frame.reasoning).startsWith('Waiting'));
    await turn(client, 'deny', 'b-later');
    const frames = await client.until((frame) => of('b-later')(frame) && frame.type === 'agent_message');
    expect(frames[0]).toMatchObject({ type: 'user_message', message: 'echo queued' });
  });

  test('attaching to a waiting session shows the request at once', async () => {
    const first = await server.connect('/ws');
    first.send(chat('run touch b-attach.txt', 'b-attach'));
    await first.next(isQuestion);
    const second = await server.connect('/ws?session=b-attach');
    const shown = await second.next('agent_thinking');
    expect(shown.reasoning).toStartWith('Waiting for approval: ');
    await turn(second, 'deny', 'b-attach');
    expect(second.frames.filter(isQuestion)).toEqual([]);
  });
});
