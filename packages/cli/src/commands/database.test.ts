import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDurable, type PrincipalId, parseDurableEvent, type SessionId } from '@parlance/protocol';
import { openStorage, type Storage, type StorageLocation } from '@parlance/server/storage';
import { seal, unseal } from '../../../server/src/accounts/seal.ts';
import { exportedLines } from '../../../server/src/core/engine/import-export.ts';
import { readSessions, writeSession } from '../../../server/src/core/index.ts';
import { SCENARIOS } from '../../../server/src/testing/scenarios.ts';
import { noPostgres, testServer } from '../../../server/src/testing/stores/postgres.ts';
import { readTranscript } from '../../../server/src/testing/transcripts.ts';
import { runParlance } from '../testing/run-parlance.ts';
import { everySession } from './every-session.ts';

const SETUP = { model: 'large', openaiKey: 'a key' };

const cwd = mkdtempSync(join(tmpdir(), 'parlance-database-'));
afterAll(() => rmSync(cwd, { recursive: true }));
const output = (line: string) => ({ code: 0, stdout: `${line}\n`, stderr: '' });
const refused = (code: number, line: string) => ({ code, stdout: '', stderr: `parlance: ${line}\n` });

async function using<Result>(
  place: StorageLocation,
  work: (store: Storage) => Promise<Result>,
): Promise<Result> {
  const store = await openStorage(place);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Every scenario as a session, and users with what they keep. */
async function fill(store: Storage): Promise<void> {
  for (const [index, name] of Object.keys(SCENARIOS).entries()) {
    const ref = { owner: (index % 2 === 0 ? 'ada' : 'local') as PrincipalId, id: `s-${name}` as SessionId };
    const events = readTranscript(name)
      .filter(isDurable)
      .map((event) => parseDurableEvent({ ...event, session: ref.id }));
    const lines = exportedLines({ ref, head: events.length }, async (after, limit) =>
      events.slice(after, after + limit),
    );
    const text = (await Array.fromAsync(lines)).join('').trimEnd().split('\n');
    for await (const session of readSessions(linesIn(text), (same) => same))
      await writeSession(store, session);
  }
  await store.put({ name: 'ada', role: 'admin', passwordHash: 'hash of ada', createdAt: 1 });
  await store.put({ name: 'bob', role: 'user', passwordHash: 'hash of bob', createdAt: 2 });
  const key = {
    name: 'key',
    dialects: ['native'],
    administration: false,
    expiresAt: null,
    lastUsedAt: null,
  } as const;
  await store.apiKeys.add({ ...key, id: 'k1', owner: 'ada', role: 'user', hash: 'h', createdAt: 3 }, 10);
  await store.preferences.put('ada' as PrincipalId, { theme: 'dark' });
  await store.preferences.put('local' as PrincipalId, { theme: 'light' });
  await store.revocations.add('a revoked token', Date.UTC(2100, 0, 1));
  const [first] = (await store.list({ limit: 1 })).sessions;
  if (!first) throw new Error('there is no session');
  const share = { id: 'share', ref: first.ref, hash: 'a'.repeat(64), seq: 1, createdAt: 4 };
  await store.shares.add(share, 10);
  await store.settings.write('prices', { models: { large: { input: 1, output: 2 } } }, 0);
  await store.settings.write('setup', { sealed: await seal(SETUP, await store.secret()) }, 0);
}

/** What a server on the store would read. */
async function setupIn(store: Storage) {
  const found = await store.settings.read('setup');
  return found && unseal(String(found.value.sealed), await store.secret());
}

async function* linesIn(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** A checksum of the events of each session, and everything else that is to be copied. */
async function contentsOf(store: Storage) {
  const sessions: Record<string, string> = {};
  for await (const { ref, head, title, status } of everySession(store, undefined)) {
    const events = await store.read(ref, 0, head + 1);
    const checksum = createHash('sha256').update(JSON.stringify(events)).digest('hex');
    sessions[`${ref.owner} ${ref.id}`] = `${head} ${status} ${title} ${checksum}`;
  }
  const users = (await store.everyone()).map(({ tokenVersion, ...user }) => ({
    ...user,
    isKnown: tokenVersion !== '',
  }));
  const preferences = await Promise.all(
    ['ada', 'bob', 'local'].map((owner) => store.preferences.get(owner as PrincipalId)),
  );
  const revoked = await store.revocations.list();
  const share = await store.shares.find('a'.repeat(64));
  const settings = { prices: await store.settings.read('prices'), setup: await setupIn(store) };
  return { sessions, users, keys: await store.apiKeys.list(), preferences, revoked, share, settings };
}

describe.skipIf(noPostgres)('commands on the database of several nodes', () => {
  const server = testServer();
  let url = '';
  beforeAll(async () => {
    if (!noPostgres) url = await server().newDatabase();
  });
  const parlance = (args: string[], input?: string) =>
    runParlance(args, { cwd, input, env: { DATABASE_URL: url } });

  test('users are added, changed and listed there, unless a data folder is named', async () => {
    expect(await parlance(['user', 'add', 'ann', '--role', 'developer'], 'first-one\n')).toEqual(
      output('added user ann with role developer'),
    );
    expect((await parlance(['user', 'list'])).stdout).toMatch(/^ann {2}developer /);
    expect((await parlance(['user', 'list', '--database', url])).stdout).toMatch(/^ann {2}developer /);
    await parlance(['user', 'add', 'bob', '--password', 'password', '--data', 'folder']);
    expect((await parlance(['user', 'list', '--data', 'folder'])).stdout).toMatch(/^bob /);
    const key = await parlance(['key', 'add', 'laptop']);
    expect([key.code, key.stdout.length > 20]).toEqual([0, true]);
    expect((await parlance(['key', 'list'])).stdout).toContain('laptop');
    expect(await parlance(['user', 'remove', 'ann'])).toEqual(output('removed user ann'));
    expect(await parlance(['key', 'list'])).toEqual(output('there are no API keys'));
  });

  test('doctor reads the settings that are stored there', async () => {
    const address = 'http://127.0.0.1:9/v1';
    await using({ database: url }, async (store) => {
      const stored = { provider: 'openai', openaiBaseUrl: address, openaiKey: 'a key' };
      await store.settings.write('setup', { sealed: await seal(stored, await store.secret()) }, 0);
    });
    const { stdout } = await parlance(['doctor', '--no-model']);
    expect(stdout).toContain(`API key stored in the console; address ${address} stored in the console`);
  });

  test('a data folder is copied into the database and back: checksums of all events are equal', async () => {
    const [first, last] = [join(cwd, 'first'), join(cwd, 'last')];
    const before = await using({ folder: first }, async (store) => {
      await fill(store);
      return contentsOf(store);
    });
    const database = await server().newDatabase();
    const copied = await runParlance(['import', 'first', '--database', database], { cwd });
    expect(copied).toMatchObject({ code: 0, stderr: '' });
    const sessions = Object.keys(SCENARIOS).length;
    expect(copied.stdout).toMatch(
      new RegExp(
        `^copied ${sessions} sessions with \\d+ events, 2 users, 1 API key,\n1 share link, the preferences of 2 users and 2 stored settings\n`,
      ),
    );
    expect(await using({ database }, contentsOf)).toEqual(before);
    expect((await runParlance(['import', database, '--data', 'last'], { cwd })).code).toBe(0);
    expect(await using({ folder: last }, contentsOf)).toEqual(before);
    const again = await runParlance(['import', 'first', '--database', database], { cwd });
    expect(again.stdout).toMatch(/^copied 0 sessions with 0 events, 0 users, 0 API keys,\n0 share links/);
  });

  test('exports of either can be imported into the other', async () => {
    const folder = join(cwd, 'exported');
    await using({ folder }, fill);
    const database = await server().newDatabase();
    const exported = await runParlance(['export', '--all', '--data', 'exported'], { cwd });
    const imported = await runParlance(['import', '--database', database], { cwd, input: exported.stdout });
    expect(imported.code).toBe(0);
    const again = await runParlance(['export', '--all', '--database', database], { cwd });
    const sorted = (text: string) => text.trimEnd().split('\n').sort();
    expect(sorted(again.stdout)).toEqual(sorted(exported.stdout));
  });

  test('a different session of the same name stops the copy before anything is written', async () => {
    const database = await server().newDatabase();
    const [folder, other] = [join(cwd, 'one'), join(cwd, 'other')];
    await using({ folder }, fill);
    await using({ folder: other }, async (store) => {
      await fill(store);
      const [session] = (await store.list({ limit: 1 })).sessions;
      if (!session) throw new Error('there is no session');
      const { ref, head, ...record } = session;
      const renamed = { type: 'session.renamed', title: 'other', by: 'ada' } as const;
      const event = { ...renamed, session: ref.id, id: 'new', at: record.updatedAt, seq: head + 1 };
      await store.append(head, [event], { ...record, ref, head: head + 1, title: 'other' });
    });
    await runParlance(['import', 'one', '--database', database], { cwd });
    const before = await using({ database }, contentsOf);
    const stopped = await runParlance(['import', 'other', '--database', database], { cwd });
    expect([stopped.code, stopped.stdout]).toEqual([1, '']);
    expect(stopped.stderr).toMatch(/^parlance: line \d+: \w+ already has a different session s-\S+\n$/);
    expect(await using({ database }, contentsOf)).toEqual(before);
  });

  test('a backup explains the alternative', async () => {
    const { code, stderr } = await parlance(['backup', 'target']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^parlance: back up a shared database .* pg_dump -Fc.*\n$/);
  });

  test('an unusable database is reported in one line', async () => {
    expect(await runParlance(['user', 'list', '--database', 'mysql://x'], { cwd })).toMatchObject({
      code: 2,
    });
    expect(await parlance(['user', 'list', '--data', 'folder', '--database', url])).toEqual(
      refused(2, '--data and --database exclude each other'),
    );
    const away = await runParlance(
      ['export', '--all', '--database', 'postgres://me:secret@127.0.0.1:1/none'],
      { cwd },
    );
    expect(away.stderr).toMatch(
      /^parlance: postgres:\/\/127\.0\.0\.1:1\/none cannot be used: it does not answer; check that it runs, and the address in DATABASE_URL \(.*\)\n$/,
    );
    expect(away.stderr).not.toContain('secret');
    expect(await parlance(['import', 'folder', '--as', 'x'])).toEqual(refused(2, '--as is for files'));
  });
});
