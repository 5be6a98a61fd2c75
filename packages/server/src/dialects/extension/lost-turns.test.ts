import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { AnyFrame, TestClient } from '../../testing/client.ts';
import { isAnswer, isQuestion, registered, say, soFar } from '../../testing/extension.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const device = (deviceId: string) => ({ path: '/', metadata: { deviceId } });
const newId = () => `device-${crypto.randomUUID()}`;

/** Starts a turn that waits for an approval. */
async function running(client: TestClient, sessionId: string) {
  say(client, 'run sleep 60', sessionId);
  await client.next(isQuestion);
}

/** Answers the approval of the session as another client. */
async function deny(sessionId: string) {
  const other = await registered(server, [], { path: `/?session=${sessionId}` });
  await other.next(isQuestion);
  say(other, 'no', sessionId);
  const answer = await other.next(isAnswer);
  other.close();
  return answer;
}

const closed = async (client: TestClient) => {
  client.close();
  await client.closed;
};

test('a device that registers again receives the running turn, and its answer', async () => {
  const [id, session] = [newId(), `session_${crypto.randomUUID()}`];
  const first = await registered(server, [], device(id));
  await running(first, session);
  await closed(first);
  const second = await registered(server, [], device(id));
  expect(await second.next('agent_status')).toMatchObject({ sessionId: session, status: 'using_tool' });
  await second.next(isQuestion);
  const answer = await deny(session);
  expect(await second.next(isAnswer)).toMatchObject({ sessionId: session, content: answer.content });
});

test('an answer that was given while the device was away is sent when it registers again', async () => {
  const [id, session] = [newId(), `session_${crypto.randomUUID()}`];
  const first = await registered(server, [], device(id));
  await running(first, session);
  await closed(first);
  const answer = await deny(session);
  const second = await registered(server, [], device(id));
  expect(await second.next('agent_status')).toMatchObject({ sessionId: session, status: 'complete' });
  expect(await second.next(isAnswer)).toMatchObject({ sessionId: session, content: answer.content });
  // Only once.
  const third = await registered(server, [], device(id));
  expect(await soFar(third)).toEqual([]);
  // Messages without a session continue the one that was inherited.
  say(second, 'what is 2 + 2?');
  expect(await second.next(isAnswer)).toMatchObject({ sessionId: session });
});

test('without a device, the next message in the session gets the missed answer first', async () => {
  const session = `session_${crypto.randomUUID()}`;
  const first = await registered(server);
  await running(first, session);
  await closed(first);
  const missed = await deny(session);
  const second = await registered(server);
  expect(await soFar(second)).toEqual([]);
  say(second, 'echo again', session);
  expect(await second.next(isAnswer)).toMatchObject({ content: missed.content });
  expect((await second.next(isAnswer)).content).not.toBe(missed.content);
});

test('another device, and a device of another user, receive nothing', async () => {
  const [id, session] = [newId(), `session_${crypto.randomUUID()}`];
  const first = await registered(server, [], device(id));
  await running(first, session);
  await closed(first);
  const frames: AnyFrame[] = [];
  const other = await registered(server, [], device(newId()));
  frames.push(...(await soFar(other)));
  const sessionToken = await server.login('uma', 'uma-password');
  const foreign = await registered(server, [], { ...device(id), sessionToken });
  frames.push(...(await soFar(foreign)));
  expect(frames).toEqual([]);
});
