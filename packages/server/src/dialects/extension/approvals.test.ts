import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  isAnswer,
  isQuestion,
  isStatus,
  isWaiting,
  MESSAGE_ID,
  registered,
  registration,
  say,
  soFar,
} from '../../testing/extension.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

let sessions = 0;

const newSession = () => `session_1234567890_${String(++sessions).padStart(9, 'a')}`;

const head = { id: expect.stringMatching(MESSAGE_ID), timestamp: expect.any(Number) };

const statuses = (frames: object[]) => frames.map((frame) => (frame as { status?: string }).status);

describe('approval by message', () => {
  test('the pending call is announced, and yes runs it', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'run touch agreed', sessionId);
    expect(await client.next(isWaiting)).toEqual({
      ...head,
      type: 'agent_status',
      status: 'using_tool',
      currentTool: 'shell',
      message: expect.stringMatching(/^Waiting for approval: .*touch agreed.* \(answer yes or no\)$/),
      sessionId,
    });
    expect(await client.next('agent_response')).toEqual({
      ...head,
      type: 'agent_response',
      content: expect.stringMatching(/^Runs touch agreed[^.]*\. Allow it\? Answer yes or no\.$/),
      sessionId,
      toolsUsed: [],
    });
    say(client, ' Yes ', sessionId);
    const frames = await client.until('agent_response');
    expect(statuses(frames)).toEqual(['using_tool', 'analyzing', 'complete', undefined]);
    expect(frames.at(-1)?.toolsUsed).toEqual([
      {
        tool: 'shell',
        input: JSON.stringify({ command: ['touch', 'agreed'] }),
        output: expect.any(String),
        executionTime: expect.any(Number),
      },
    ]);
    expect(existsSync(join(server.root, 'agreed'))).toBe(true);
  });

  test('a popup that shows only thinking, complete, error and response can show and answer it', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    /** the content that such a popup shows until its input is enabled again */
    const shown = async (content: string) => {
      say(client, content, sessionId);
      const frames = await client.until(
        (frame) => ['agent_response', 'error'].includes(frame.type) || isStatus('complete')(frame),
      );
      return frames.filter((frame) => frame.type !== 'agent_status').map((frame) => frame.content);
    };
    expect(await shown('run touch popup')).toEqual([expect.stringContaining('Runs touch popup')]);
    await shown('yes');
    expect((await client.next('agent_response')).toolsUsed).toHaveLength(1);
    expect(existsSync(join(server.root, 'popup'))).toBe(true);
  });

  test('no denies it, and it is not listed as used', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'run touch refused', sessionId);
    await client.next(isQuestion);
    say(client, 'no', sessionId);
    const frames = await client.until('agent_response');
    expect(frames[0]).toMatchObject({ status: 'analyzing', message: 'shell was not allowed to run.' });
    expect(frames.at(-1)?.toolsUsed).toEqual([]);
    expect(existsSync(join(server.root, 'refused'))).toBe(false);
  });

  test('any other message is queued, and the pending call is announced again', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'run touch later', sessionId);
    const first = await client.next(isWaiting);
    const asked = await client.next(isQuestion);
    say(client, 'count to 3', sessionId);
    const second = await client.next(isWaiting);
    expect(second.message).toBe(first.message as string);
    expect(second.id).not.toBe(first.id);
    const again = await client.next(isQuestion);
    expect(again.content).toBe(asked.content as string);
    expect(again.id).not.toBe(asked.id);
    say(client, 'deny', sessionId);
    await client.next(isAnswer);
    expect((await client.next('agent_response')).content).toBe('1 2 3');
  });

  test('a socket that registers later receives it once and can answer it; all sockets receive the outcome', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'run touch shared', sessionId);
    const asked = await client.next(isWaiting);
    const question = await client.next(isQuestion);
    const other = await server.connect(`/extension?session=${sessionId}`);
    expect(await soFar(other)).toEqual([]);
    other.send(registration());
    await other.next('registration_confirmed');
    expect(await soFar(other)).toEqual([
      { ...asked, ...head },
      { ...question, ...head },
    ]);
    other.send(registration());
    await other.next('registration_confirmed');
    expect(await soFar(other)).toEqual([]);
    say(other, 'y');
    const [here, there] = await Promise.all([client.next(isAnswer), other.next(isAnswer)]);
    expect(here).toEqual(there);
  });

  test('a popup that reconnects and answers first does not receive the request again', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'run touch reopened', sessionId);
    await client.next(isQuestion);
    const back = await registered(server);
    say(back, 'yes', sessionId);
    const frames = await back.until('agent_response');
    expect(statuses(frames)).toEqual(['using_tool', 'analyzing', 'complete', undefined]);
    expect(frames.filter((frame) => isWaiting(frame) || isQuestion(frame))).toEqual([]);
    expect(existsSync(join(server.root, 'reopened'))).toBe(true);
  });

  test('a popup that reconnects with another message receives the request once', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'run touch reopened-late', sessionId);
    await client.next(isQuestion);
    const back = await registered(server);
    say(back, 'count to 3', sessionId);
    await back.next(isQuestion);
    expect((await soFar(back)).filter(isQuestion)).toEqual([]);
    say(back, 'no', sessionId);
    await back.next(isAnswer);
    expect((await back.next('agent_response')).content).toBe('1 2 3');
  });

  test('of concurrent replies the first is the answer, and the others are messages', async () => {
    const sessionId = newSession();
    const clients = await Promise.all(Array.from({ length: 4 }, () => registered(server)));
    const [first] = clients;
    if (!first) throw new Error('expected four clients');
    say(first, 'run touch once', sessionId);
    await first.next(isQuestion);
    for (const client of clients) say(client, 'yes', sessionId);
    for (const _ of clients) await first.next(isAnswer);
    for (const client of clients) {
      expect((await soFar(client)).filter((frame) => frame.type === 'error')).toEqual([]);
      expect(client.frames.filter((frame) => frame.type === 'error')).toEqual([]);
    }
    const stored = await fetch(`${server.http}/v1/sessions/${sessionId}/events?after=0`);
    const types = [...(await stored.text()).matchAll(/"type":"(approval\.answered|input\.accepted)"/g)];
    expect(types.filter(([, type]) => type === 'approval.answered')).toHaveLength(1);
    expect(types.filter(([, type]) => type === 'input.accepted')).toHaveLength(4);
  });

  test('a second yes sent before the next question does not answer it', async () => {
    const client = await registered(server);
    const sessionId = newSession();
    say(client, 'run touch e-k5 and then run touch e-k6', sessionId);
    await client.next(isQuestion);
    say(client, 'yes', sessionId);
    say(client, 'yes', sessionId);
    expect(String((await client.next(isQuestion)).content)).toContain('e-k6');
    say(client, 'no', sessionId);
    await client.next(isAnswer);
    expect(existsSync(join(server.root, 'e-k5'))).toBe(true);
    expect(existsSync(join(server.root, 'e-k6'))).toBe(false);
  });

  test('a user without the permission gets an error, and the call stays pending', async () => {
    const sessionToken = await server.login('uma', 'uma-password');
    const client = await registered(server, [], { sessionToken });
    const sessionId = newSession();
    say(client, 'run touch forbidden', sessionId);
    await client.next(isWaiting);
    say(client, 'yes', sessionId);
    expect(await client.next('error')).toEqual({
      ...head,
      type: 'error',
      message: 'Missing permission: tool:approve',
      code: 'HANDLER_ERROR',
      sessionId,
    });
    expect(existsSync(join(server.root, 'forbidden'))).toBe(false);
  });

  test('yes without a pending call is an ordinary message', async () => {
    const client = await registered(server);
    say(client, 'yes', newSession());
    await client.next('agent_response');
  });
});
