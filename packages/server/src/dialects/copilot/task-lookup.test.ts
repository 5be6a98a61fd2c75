/**
 * Finding the task of a call: clients change their session when a page navigates, and lose their task with
 * every input.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, type Json, startTestApi, type TestApi } from '../../testing/copilot.ts';

const PAGE = { url: 'https://shop.example/contact', dom: '<h1>Contact</h1><button id="4">Submit</button>' };
const DONE = { url: PAGE.url, dom: '<h1>Thank you</h1>', lastActionStatus: 'success' };
const QUERY = 'click the Submit button';

let folder: string;
let api: TestApi;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parlance-lookup-'));
  api = await startTestApi();
});
afterAll(async () => {
  await api.stop();
  rmSync(folder, { recursive: true, force: true });
});

const dataOf = (answer: Answer): Json => answer.body.data as Json;
const interact = (body: object, name = 'uma', at = api) => at.post(name, '/api/agent/interact', body);
const begun = async (name = 'uma', at = api) => dataOf(await interact({ ...PAGE, query: QUERY }, name, at));
const historyOf = async (sessionId: unknown, name = 'uma', at = api) =>
  (await at.get(name, `/api/session/${sessionId}/messages`)).body as {
    messages: { role: string; content: string; metadata?: Json }[];
    sessionExists: boolean;
  };

describe('a task is found by its id', () => {
  const otherSession = async () => (await begun()).sessionId;
  const places: [string, () => Promise<object>][] = [
    ['with another session', async () => ({ sessionId: await otherSession() })],
    ['with an unknown session', async () => ({ sessionId: crypto.randomUUID() })],
    ['without a session', async () => ({})],
    ['with a session that is null', async () => ({ sessionId: null })],
  ];

  test.each(places)('%s: it continues and ends', async (_name, place) => {
    const { taskId, sessionId } = await begun();
    const where = (await place()) as { sessionId?: string | null };
    const before = where.sessionId ? await historyOf(where.sessionId) : null;
    const next = { ...DONE, query: QUERY, taskId, ...where };
    const ended = await interact(next);
    expect(ended.status).toBe(200);
    expect(dataOf(ended)).toMatchObject({ action: 'finish()', status: 'completed', taskId, sessionId });
    const again = dataOf(await interact(next));
    expect(again).toMatchObject({ action: 'finish()', status: 'completed', taskId, sessionId });
    expect(again.thought).toContain('finished');
    if (where.sessionId) expect(await historyOf(where.sessionId)).toEqual(before as never);
  });

  test('even if its session has had later tasks', async () => {
    const { taskId, sessionId } = await begun();
    await interact({ ...DONE, query: QUERY, taskId, sessionId });
    await interact({ ...PAGE, query: QUERY, sessionId });
    expect(dataOf(await interact({ ...DONE, query: QUERY, taskId }))).toMatchObject({
      action: 'finish()',
      status: 'completed',
      sessionId,
    });
  });

  test('only by its owner: for others it behaves like an unknown task', async () => {
    const { taskId, sessionId } = await begun('uma');
    for (const name of ['dev', 'ada']) {
      const own = (await begun(name)).sessionId;
      for (const place of [{}, { sessionId: own }, { sessionId: crypto.randomUUID() }]) {
        const plain = async (id: unknown) => {
          const answer = await interact({ ...DONE, query: QUERY, taskId: id, ...place }, name);
          return { http: answer.status, ...dataOf(answer), taskId: '', sessionId: '', metrics: null };
        };
        const unknown = await plain(crypto.randomUUID());
        expect(await plain(taskId)).toEqual(unknown);
        expect(unknown).toMatchObject({ http: 200, status: 'failed', action: 'finish()' });
      }
    }
    const active = await api.get('uma', `/api/session/${sessionId}/task/active`);
    expect(active.body.data).toMatchObject({ taskId, status: 'executing' });
  });

  test('the session of another user is still refused', async () => {
    const { sessionId } = await begun('dev');
    const { taskId } = await begun('uma');
    const refused = await interact({ ...DONE, query: QUERY, taskId, sessionId }, 'uma');
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });

  test('after a restart', async () => {
    const settings = { PARLANCE_DATA: join(folder, 'restarted') };
    const before = await startTestApi(settings);
    const { taskId, sessionId } = await begun('uma', before);
    await before.stop();
    const after = await startTestApi(settings);
    const ended = dataOf(await interact({ ...DONE, query: QUERY, taskId }, 'uma', after));
    expect(ended).toMatchObject({ action: 'finish()', status: 'completed', taskId, sessionId });
    await after.stop();
  });
});

describe('a query without a task in a session that waits for the user', () => {
  const asked = async () => dataOf(await interact({ ...PAGE, query: 'click the Rocket button' }));

  test('is the reply to its question, not a new task', async () => {
    const { taskId, sessionId, status } = await asked();
    expect(status).toBe('needs_user_input');
    const replied = dataOf(await interact({ ...PAGE, query: QUERY, sessionId }));
    expect(replied).toMatchObject({ taskId, sessionId, action: 'click(4)', status: 'executing' });
    const { messages } = await historyOf(sessionId);
    expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
      'click the Rocket button',
      QUERY,
    ]);
    const ended = dataOf(await interact({ ...DONE, query: QUERY, taskId, sessionId }));
    expect(ended).toMatchObject({ taskId, action: 'finish()' });
  });

  test('is a new task once the question is answered', async () => {
    const { taskId, sessionId } = await asked();
    await interact({ ...PAGE, query: QUERY, sessionId });
    const next = dataOf(await interact({ ...PAGE, query: QUERY, sessionId }));
    expect(next.taskId).not.toBe(taskId);
    expect(next).toMatchObject({ sessionId, action: 'click(4)' });
  });

  test('of several concurrent replies, the first answers and the others are inputs', async () => {
    const { taskId, sessionId } = await asked();
    const answers = await Promise.all([1, 2, 3].map(() => interact({ ...PAGE, query: QUERY, sessionId })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const tasks = answers.map((answer) => dataOf(answer).taskId);
    expect(tasks.filter((id) => id === taskId)).toHaveLength(1);
    expect(new Set(tasks).size).toBe(3);
    const first = answers.map(dataOf).find((data) => data.taskId === taskId);
    expect(first).toMatchObject({ action: 'click(4)', status: 'executing' });
    const { messages } = await historyOf(sessionId);
    expect(messages.filter(({ role, content }) => role === 'user' && content === QUERY)).toHaveLength(3);
  });

  test('of several concurrent replies with the id of the task, none is an error', async () => {
    const { taskId, sessionId } = await asked();
    const reply = { ...PAGE, query: QUERY, sessionId, taskId };
    const answers = await Promise.all([1, 2, 3].map(() => interact(reply)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(dataOf).find((data) => data.taskId === taskId)).toMatchObject({ action: 'click(4)' });
  });
});

describe('a query without a task in a session that waits for an approval', () => {
  let asking: TestApi;
  beforeAll(async () => {
    const config = join(folder, 'asking.json');
    writeFileSync(
      config,
      JSON.stringify({ rules: [{ tool: 'browser_act', pattern: '*', decision: 'ask' }] }),
    );
    asking = await startTestApi({ PARLANCE_CONFIG: config });
  });
  afterAll(() => asking.stop());

  const waiting = async () => {
    const data = await begun('dev', asking);
    expect(data).toMatchObject({ status: 'needs_user_input', missingInformation: ['approval'] });
    return data;
  };

  test('can approve it', async () => {
    const { taskId, sessionId, userQuestion } = await waiting();
    const allowed = await interact({ ...PAGE, query: ' Yes ', sessionId }, 'dev', asking);
    expect(dataOf(allowed)).toMatchObject({ taskId, action: 'click(4)', status: 'executing' });
    const { messages } = await historyOf(sessionId, 'dev', asking);
    const said = messages.filter(({ role }) => role !== 'system').map(({ role, content }) => [role, content]);
    expect(said.slice(0, 3)).toEqual([
      ['user', QUERY],
      ['assistant', userQuestion],
      ['user', 'Yes'],
    ] as never);
  });

  test('can deny it', async () => {
    const { taskId, sessionId } = await waiting();
    const denied = dataOf(await interact({ ...PAGE, query: 'no', sessionId }, 'dev', asking));
    expect(denied.taskId).toBe(taskId);
    expect(denied.action).not.toBe('click(4)');
  });

  test('gets the request again if it is neither yes nor no', async () => {
    const { taskId, sessionId, userQuestion } = await waiting();
    const again = dataOf(await interact({ ...PAGE, query: 'why?', sessionId }, 'dev', asking));
    expect(again).toMatchObject({ taskId, status: 'needs_user_input', userQuestion });
  });

  test('of several concurrent ones the first answers, and none is an error', async () => {
    const { taskId, sessionId } = await waiting();
    const reply = { ...PAGE, query: 'yes', sessionId };
    const answers = await Promise.all([1, 2].map(() => interact(reply, 'dev', asking)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(dataOf).find((data) => data.taskId === taskId)).toMatchObject({ action: 'click(4)' });
  });
});
