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

  test('a vague reply is answered with the question, as a message', async () => {
    const client = await server.connect('/ws');
    client.send(chat('run touch b-vague.txt', 'b-vague'));
    await client.next(isQuestion);
    client.send(chat('hm, why?', 'b-vague'));
    expect(await client.next('agent_message')).toEqual({
      type: 'agent_message',
      message: expect.stringMatching(
        /^Your message is answered after this\. Runs touch b-vague.txt.* Answer yes or no\.$/,
      ),
      session_id: 'b-vague',
    });
    await turn(client, 'yes', 'b-vague');
    expect(existsSync(join(server.root, 'b-vague.txt'))).toBe(true);
  });

  describe('only a page whose next chat answers it is asked', () => {
    const ELSEWHERE = /: waits for approval elsewhere\.$/;
    const asks = (frame: AnyFrame) => /yes or no/.test(String(frame.message ?? frame.reasoning));

    /** Frames of the session up to the information that it waits elsewhere; none of them is a question. */
    async function informed(page: TestClient, session: string): Promise<void> {
      const frames = await page.until(
        (frame) =>
          of(session)(frame) && frame.type === 'agent_message' && ELSEWHERE.test(String(frame.message)),
      );
      const shown = frames.filter(of(session));
      expect(shown.at(-2)).toMatchObject({
        type: 'agent_thinking',
        reasoning: expect.stringMatching(ELSEWHERE),
      });
      expect(shown.filter(asks)).toEqual([]);
    }

    test('not one that has sent nothing, nor one of another session; one that named the session is', async () => {
      const pages = await Promise.all([server.connect('/ws'), server.connect('/ws')]);
      const [blank, other] = pages as [TestClient, TestClient];
      await turn(other, 'count to 2', 'b-other');
      const named = await server.connect('/ws?session=b-asked');
      const client = await server.connect('/ws');
      client.send(chat('run touch b-asked.txt', 'b-asked'));
      await client.next((frame) => of('b-asked')(frame) && isQuestion(frame));
      await named.next((frame) => of('b-asked')(frame) && isQuestion(frame));
      for (const page of [blank, other]) await informed(page, 'b-asked');
      await turn(other, 'yes', 'b-other');
      expect(existsSync(join(server.root, 'b-asked.txt'))).toBe(false);
      await turn(named, 'no', 'b-asked');
    });

    test('not about an approval in a session of another dialect', async () => {
      const page = await server.connect('/ws');
      await turn(page, 'count to 2', 'b-page');
      const loop = await server.connect('/agentloop?session=b-loop');
      const content = [{ type: 'input_text', text: 'run touch b-loop.txt' }];
      const input = [{ type: 'message', role: 'user', content }];
      loop.send({ id: 'one', type: 'user_input', payload: { input } });
      await loop.next('approval_request');
      await informed(page, 'b-loop');
      await turn(page, 'no', 'b-loop');
    });

    test('not a user who may not approve', async () => {
      const token = await server.login('uma', 'uma-password');
      const page = await server.connect(`/broadcast?token=${token}`);
      page.send(chat('run touch b-uma.txt', 'b-uma'));
      await informed(page, 'b-uma');
      page.send(chat('and now?', 'b-uma'));
      expect(String((await page.next('agent_message')).message)).toMatch(ELSEWHERE);
    });
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
