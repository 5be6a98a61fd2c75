/** A server is backed up under load, and another one continues from the backup. */
import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outcome, runParlance } from '../packages/cli/src/testing/run-parlance.ts';
import { type DurableEvent, textOf } from '../packages/protocol/src/index.ts';
import { durableOf, followed, getJson, postJson, startProcess, submit } from './server-process.ts';
import { mountDisk, noDisk } from './small-disk.ts';

const root = mkdtempSync(join(tmpdir(), 'parlance-backed-up-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newFolder = () => mkdtempSync(join(root, 'case-'));

const backup = (folder: string, target: string): Promise<Outcome> =>
  runParlance(['backup', target, '--data', join(folder, 'data')], { cwd: root });
const inputs = (events: readonly DurableEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'input.accepted' ? [textOf(event.parts)] : []));
const ended =
  (turns: number) =>
  (events: readonly DurableEvent[]): boolean =>
    events.filter(({ type }) => type === 'turn.ended').length === turns;

test('a backup contains everything acknowledged before it, and a server continues from it', async () => {
  const folder = newFolder();
  await using server = await startProcess(folder);
  const login = { username: 'dev', password: 'dev-password' };
  const { body } = await postJson(`${server.http}/v1/auth/login`, login);
  await submit(server, 'asks', 'run touch made.txt');
  await followed(server, 'asks', (events) => events.some(({ type }) => type === 'approval.requested'));

  const sessions = ['a', 'b', 'c', 'd'];
  const acknowledged = new Map(sessions.map((session) => [session, [] as string[]]));
  const total = () => [...acknowledged.values()].reduce((sum, texts) => sum + texts.length, 0);
  const busy = Promise.withResolvers<void>();
  let stopping = false;
  const writers = sessions.map(async (session) => {
    for (let number = 0; !stopping; number++) {
      const text = `echo ${session} ${number} ${'x'.repeat(500)}`;
      if (!(await submit(server, session, text))) throw new Error('refused');
      acknowledged.get(session)?.push(text);
      if (total() >= 60) busy.resolve();
    }
  });
  await busy.promise;
  const before = new Map([...acknowledged].map(([session, texts]) => [session, [...texts]]));
  const target = join(root, 'under-load');
  const made = await backup(folder, target);
  const afterwards = total();
  stopping = true;
  await Promise.all(writers);
  expect([made.code, made.stderr]).toEqual([0, '']);
  // The server was not blocked: it accepted messages during the copy.
  expect(afterwards).toBeGreaterThan([...before.values()].flat().length);
  await server.kill();

  expect(readdirSync(target).sort()).toEqual(['parlance.db', 'secret']);
  using database = new Database(join(target, 'parlance.db'), { readonly: true });
  expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);

  const restored = newFolder();
  cpSync(target, join(restored, 'data'), { recursive: true });
  await using second = await startProcess(restored, { PARLANCE_OFFLINE_DELAY: '0' });
  for (const [session, texts] of before) {
    const events = await durableOf(second, session);
    const kept = inputs(events);
    expect(kept.slice(0, texts.length)).toEqual(texts);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    // Later messages were sent, in this order.
    expect(kept).toEqual((acknowledged.get(session) ?? []).slice(0, kept.length));
    expect(await submit(second, session, 'echo and on')).toBe(true);
    await followed(second, session, ended(kept.length + 1));
  }
  // Tokens are valid there, and the pending approval can be answered.
  const headers = { authorization: `Bearer ${body.access_token}` };
  expect((await fetch(`${second.http}/v1/sessions`, { headers })).status).toBe(200);
  const { approvals } = await getJson<{ approvals: { id: string }[] }>(`${second.http}/v1/approvals`);
  await postJson(`${second.http}/v1/approvals/${approvals[0]?.id}`, { answer: 'once' });
  await followed(second, 'asks', ended(1));
  expect(existsSync(join(restored, 'made.txt'))).toBe(true);
});

describe.skipIf(noDisk)('on a small disk (skipped if none can be mounted)', () => {
  test('a backup without enough space fails with one clear line, leaves no files, and does not affect the server', async () => {
    using disk = mountDisk(1);
    const folder = newFolder();
    await using server = await startProcess(folder);
    for (let number = 0; number < 40; number++) await submit(server, 'large', `echo ${'x'.repeat(20_000)}`);
    const target = join(disk.path, 'backup');
    const { code, stdout, stderr } = await backup(folder, target);
    const line = `${join(target, 'parlance.db')} cannot be used: the disk is full (database or disk is full)`;
    expect([code, stdout, stderr]).toEqual([1, '', `parlance: ${line}\n`]);
    expect(readdirSync(disk.path)).toEqual([]);
    expect(await submit(server, 'large', 'echo still here')).toBe(true);
  });

  test('a server with a full disk can be backed up', async () => {
    using disk = mountDisk(16);
    await using server = await startProcess(disk.path);
    await submit(server, 'kept', 'echo hello');
    await followed(server, 'kept', ended(1));
    disk.fill();
    const elsewhere = newFolder();
    mkdirSync(elsewhere, { recursive: true });
    const { code, stderr } = await backup(disk.path, join(elsewhere, 'data'));
    expect([code, stderr]).toEqual([0, '']);
    await using second = await startProcess(elsewhere);
    expect(inputs(await durableOf(second, 'kept'))).toEqual(['echo hello']);
    expect(await submit(second, 'kept', 'echo again')).toBe(true);
  });
});
