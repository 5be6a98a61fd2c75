/** Calls that are repeated because their response was lost. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('dev', 'dev-password');
});
afterAll(() => server.stop());

const FORM =
  '<label>Name <input id="1"></label><label>City <input id="2"></label><button id="3">Send</button>';
const FILLED = FORM.replace('id="1"', 'id="1" value="Ada"');
const QUERY = 'enter "Ada" into Name, then enter "London" into City, then click Send';

type Answer = { action?: string; taskId: string; status: string; metrics?: { actionCount: number } };

async function interact(request: object, key?: string): Promise<Answer> {
  const response = await fetch(`${server.http}/api/agent/interact`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ url: 'https://shop.example/', dom: FORM, query: QUERY, ...request }),
  });
  const { data } = (await response.json()) as { data: Answer };
  return data;
}

const inputsOf = async (session: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${server.http}/v1/sessions/${session}/events?limit=1000`, { headers });
  const { events } = (await response.json()) as { events: { type: string }[] };
  return events.filter(({ type }) => type === 'input.accepted').length;
};

test('a repeated first call starts no second task, even while the first is being answered', async () => {
  const sessionId = crypto.randomUUID();
  const key = crypto.randomUUID();
  const first = await interact({ sessionId }, key);
  const again = await interact({ sessionId }, key);
  expect(again.taskId).toBe(first.taskId);
  expect(again.action).toBe(first.action);
  expect(again.metrics?.actionCount).toBe(1);
  expect(await inputsOf(sessionId)).toBe(1);
  const other = await interact({ sessionId }, crypto.randomUUID());
  expect(other.taskId).not.toBe(first.taskId);
});

test('a repeated first call does not answer the question of its own task', async () => {
  const sessionId = crypto.randomUUID();
  const key = crypto.randomUUID();
  const asking = { sessionId, query: 'enter into Name', dom: FORM };
  const first = await interact(asking, key);
  expect(first.status).toBe('needs_user_input');
  const again = await interact(asking, key);
  expect(again).toMatchObject({ status: 'needs_user_input', taskId: first.taskId });
});

test('a repeated report is not applied to the next action', async () => {
  const sessionId = crypto.randomUUID();
  const first = await interact({ sessionId });
  expect(first.action).toBe('setValue(1, "Ada")');
  const report = {
    sessionId,
    taskId: first.taskId,
    dom: FILLED,
    lastActionStatus: 'success',
    actionCount: first.metrics?.actionCount,
  };
  const second = await interact(report);
  expect(second.action).toBe('setValue(2, "London")');
  const again = await interact(report);
  expect(again.action).toBe(second.action);
  expect(again.metrics?.actionCount).toBe(2);
});
