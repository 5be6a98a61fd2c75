/** A session is exported from one server and continues on another, in any dialect. */
import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runParlance } from '../packages/cli/src/testing/run-parlance.ts';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import type { TestServer } from '../packages/server/src/testing/server.ts';
import { DRIVERS } from './drivers.ts';
import {
  durableOf,
  followed,
  getJson,
  postJson,
  type ServerProcess,
  startProcess,
  submit,
} from './server-process.ts';

const root = mkdtempSync(join(tmpdir(), 'parlance-moving-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newFolder = () => mkdtempSync(join(root, 'case-'));

const parlance = async (folder: string, args: string[], input?: string): Promise<string> => {
  const data = ['--data', join(folder, 'data')];
  const { code, stdout, stderr } = await runParlance([...args, ...data], { cwd: root, input });
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
};
const ended =
  (turns: number) =>
  (events: readonly DurableEvent[]): boolean =>
    events.filter(({ type }) => type === 'turn.ended').length === turns;
const asked = (events: readonly DurableEvent[]) => events.some(({ type }) => type === 'approval.requested');
const sessionsOf = async (server: ServerProcess) =>
  (await getJson<{ sessions: { id: string; status: string }[] }>(`${server.http}/v1/sessions`)).sessions;

test('a conversation moves between two running servers, and continues in every dialect', async () => {
  const [from, to] = [newFolder(), newFolder()];
  await using first = await startProcess(from);
  await submit(first, 'talk', 'echo hello');
  await followed(first, 'talk', ended(1));
  const before = await durableOf(first, 'talk');
  const lines = await parlance(from, ['export', 'talk']);
  expect(await (await fetch(`${first.http}/v1/sessions/talk/export`)).text()).toBe(lines);

  await using second = await startProcess(to);
  // A client subscribes to the session before it exists.
  const early = await second.connect('/agentloop?session=talk');
  const { body } = await postJson(`${second.http}/v1/auth/login`, {
    username: 'dev',
    password: 'dev-password',
  });
  await parlance(to, ['import', '--resume'], lines);
  await parlance(to, ['import', '--resume', '--owner', 'dev'], lines);
  expect(await durableOf(second, 'talk')).toEqual(before);
  expect((await sessionsOf(second)).map(({ id, status }) => [id, status])).toEqual([['talk', 'idle']]);
  expect(await submit(second, 'talk', 'echo and on')).toBe(true);
  await early.next('agent_finished');
  const after = await followed(second, 'talk', ended(2));
  expect(after.slice(0, before.length)).toEqual(before);

  for (const connect of Object.values(DRIVERS)) {
    const driver = await connect(second as unknown as TestServer, 'talk', String(body.access_token));
    driver.say('echo parlance');
    for (let answer = ''; !answer.includes('parlance'); ) answer = await driver.answer();
    driver.client.close();
  }
});

test('a pending approval is answered on the other server, and the call runs there', async () => {
  const [from, to] = [newFolder(), newFolder()];
  await using first = await startProcess(from);
  await submit(first, 'asks', 'run touch made.txt');
  await followed(first, 'asks', asked);
  const lines = await parlance(from, ['export', '--all']);
  await using second = await startProcess(to);
  await parlance(to, ['import', '--resume', '--as', 'moved'], lines);
  type Approvals = { approvals: { id: string; session: string }[] };
  const { approvals } = await getJson<Approvals>(`${second.http}/v1/approvals`);
  expect(approvals.map(({ session }) => session)).toEqual(['moved']);
  const answer = await postJson(`${second.http}/v1/approvals/${approvals[0]?.id}`, { answer: 'once' });
  expect(answer.status).toBe(200);
  await followed(second, 'moved', ended(1));
  expect([existsSync(join(to, 'made.txt')), existsSync(join(from, 'made.txt'))]).toEqual([true, false]);
});

test('an unfinished turn is resumed at the next start, and at the next message', async () => {
  const [from, to] = [newFolder(), newFolder()];
  await using first = await startProcess(from, { PARLANCE_OFFLINE_DELAY: '60000' });
  await submit(first, 'long', 'count to 300');
  await followed(first, 'long', (events) => events.some(({ type }) => type === 'turn.started'));
  const lines = await parlance(from, ['export', 'long']);
  await parlance(to, ['import', '--resume', '--as', 'started'], lines);
  await using second = await startProcess(to);
  const resumed = await followed(second, 'started', ended(1));
  expect(resumed.filter(({ type }) => type === 'turn.resumed')).toHaveLength(1);

  await parlance(to, ['import', '--resume', '--as', 'spoken-to'], lines);
  expect(await submit(second, 'spoken-to', 'echo and this')).toBe(true);
  const both = await followed(second, 'spoken-to', ended(2));
  expect(both.filter(({ type }) => type === 'turn.resumed')).toHaveLength(1);
});
