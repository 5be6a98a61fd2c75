/** Overlapping replies: a reply to the first question never answers the next question. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, type Json, startTestApi, type TestApi } from '../../testing/copilot.ts';
import { until } from '../../testing/until.ts';

let api: TestApi;
let token: string;
beforeAll(async () => {
  api = await startTestApi();
  token = await api.server.login('dev', 'dev-password');
});
afterAll(() => api.stop());

const dataOf = (answer: Answer): Json => answer.body.data as Json;
const interact = (body: object) => api.post('dev', '/api/agent/interact', body);
const made = (name: string) => existsSync(join(api.server.root, name));
const messagesOf = async (sessionId: string) =>
  (await api.get('dev', `/api/session/${sessionId}/messages`)).body.messages as Json[];

const activeTask = async (sessionId: string): Promise<Json> =>
  dataOf(await api.get('dev', `/api/session/${sessionId}/task/active`)) ?? {};

/** A session that waits for the approval of the first of two commands; that command runs until `release`. */
async function waiting(name: string) {
  const sessionId = crypto.randomUUID();
  const chat = await api.server.connect(`/broadcast?token=${token}`);
  const authenticator = `${name}-gate`;
  const first = `until test -e ${authenticator}; do sleep 0.02; done; touch ${name}-1.txt`;
  const message = `run \`${first}\` and then run touch ${name}-2.txt`;
  chat.send({ type: 'chat', message, session_id: sessionId });
  const task = await until(async () => {
    const active = await activeTask(sessionId);
    return active.status === 'needs_user_input' && active;
  });
  return {
    sessionId,
    taskId: task.taskId,
    release: () => writeFileSync(join(api.server.root, authenticator), ''),
  };
}

describe('two replies to one approval', () => {
  test.each(['without', 'with'])('%s the id of the task: the second approves nothing', async (named) => {
    const { release, taskId, ...session } = await waiting(named);
    const { sessionId } = session;
    const reply = { query: 'yes', ...session, ...(named === 'with' && { taskId }) };
    const one = interact(reply);
    for (let said = 0; said < 1; ) {
      const messages = await messagesOf(sessionId);
      said = messages.filter(({ role, content }) => role === 'user' && content === 'yes').length;
    }
    const two = interact(reply);
    // The second reply is sent before these requests, and the first waits for its command.
    for (let call = 0; call < 5; call++) await messagesOf(sessionId);
    release();
    const answers = await Promise.all([one, two]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(dataOf(answers[0])).toMatchObject({ status: 'needs_user_input' });
    expect(String(dataOf(answers[0]).userQuestion)).toContain(`${named}-2.txt`);
    expect([made(`${named}-1.txt`), made(`${named}-2.txt`)]).toEqual([true, false]);
    // Without the task id it is an ordinary input; with it, the call only returns the state of the task.
    expect(dataOf(answers[1]).taskId === taskId).toBe(named === 'with');
  });
});
