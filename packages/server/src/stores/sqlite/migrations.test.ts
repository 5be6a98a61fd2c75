import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ApprovalId, eventVersion, TurnId } from '@parlance/protocol';
import { begin, idsOf, newerUpcasts, refOf, textEvent } from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { APPLICATION_ID, MIGRATIONS } from './migrations.ts';
import { openSqliteStore } from './open.ts';

const REFUSED: Record<string, { make: (path: string) => void | Promise<void>; message: string }> = {
  'a SQLite database of another program': {
    make: (path) => {
      using database = new Database(path, { create: true });
      database.run('PRAGMA journal_mode = WAL');
      database.run('CREATE TABLE facts (theirs TEXT)');
      database.run("INSERT INTO facts VALUES ('theirs')");
    },
    message: 'is not a Parlance database',
  },
  'an empty database that another program has claimed': {
    make: (path) => {
      using database = new Database(path, { create: true });
      database.run('PRAGMA application_id = 42');
    },
    message: 'is not a Parlance database',
  },
  'a file that is not a database': {
    make: (path) => writeFileSync(path, 'Dear diary, this is not a database. '.repeat(40)),
    message: 'is not a Parlance database',
  },
  'a database from a newer version': {
    make: async (path) => {
      await openSqliteStore(dirname(path)).close();
      using database = new Database(path);
      database.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
      database.run('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    message: 'is from a newer version of Parlance',
  },
  'a database in which a newer version may have written events': {
    make: (path) => openSqliteStore(dirname(path), { upcasts: newerUpcasts() }).close(),
    message: `contains an event that has schema version ${eventVersion() + 1}, which a newer version of Parlance wrote: this one reads up to ${eventVersion()}`,
  },
};

describe('an unusable database is refused in one line and left unchanged', () => {
  for (const [name, { make, message }] of Object.entries(REFUSED)) {
    test(name, async () => {
      using scratch = scratchFolder();
      const path = join(scratch.path, 'parlance.db');
      await make(path);
      const before = readFileSync(path);
      const open = () => openSqliteStore(scratch.path);
      expect(open).toThrow(`${path} ${message}`);
      expect(readFileSync(path).equals(before)).toBe(true);
      expect(readdirSync(scratch.path)).toEqual(['parlance.db']);
    });
  }
});

test('a refused folder is not left locked', () => {
  using scratch = scratchFolder();
  const path = join(scratch.path, 'parlance.db');
  writeFileSync(path, 'not a database '.repeat(100));
  const open = () => openSqliteStore(scratch.path, { exclusive: true });
  expect(open).toThrow('is not a Parlance database');
  expect(open).toThrow('is not a Parlance database');
});

test('an empty file counts as a new database, as after a crash before the first write', async () => {
  using scratch = scratchFolder();
  writeFileSync(join(scratch.path, 'parlance.db'), '');
  const store = openSqliteStore(scratch.path);
  await begin(store, refOf('ada', 'first'));
  await store.close();
});

test('an up-to-date database is opened without a write', async () => {
  using scratch = scratchFolder();
  await openSqliteStore(scratch.path).close();
  const before = readFileSync(join(scratch.path, 'parlance.db'));
  await openSqliteStore(scratch.path).close();
  expect(readFileSync(join(scratch.path, 'parlance.db')).equals(before)).toBe(true);
});

type Release = {
  readonly version: number;
  readonly sessions: Record<string, object[]>;
  readonly status?: string;
};

/** A database as an older release left it, with these sessions and events. */
function olderRelease(path: string, { version, sessions, status = 'idle' }: Release): void {
  using database = new Database(path, { create: true, strict: true });
  for (const step of MIGRATIONS.slice(0, version)) database.run(step);
  database.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  database.run(`PRAGMA user_version = ${version}`);
  for (const [id, events] of Object.entries(sessions)) {
    const { lastInsertRowid: row } = database
      .prepare(`INSERT INTO sessions (owner, id, dialect, domain, agent, title, status, created_at, updated_at, head)
        VALUES ('ada', ?, 'native', 'default', 'assistant', 'Kept', ?, 1, ?, ?)`)
      .run(id, status, events.length, events.length);
    events.forEach((event, index) => {
      const body = JSON.stringify({ session: id, id: `fact-${index}`, at: 1, seq: index + 1, ...event });
      database.prepare('INSERT INTO facts VALUES (?, ?, ?)').run(row, index + 1, body);
    });
  }
}

test('a database of the first release is upgraded in place, and its sessions have the new columns', async () => {
  using scratch = scratchFolder();
  const turn = 'turn';
  const input = { type: 'input.accepted', input: 'i', parts: [], dialect: 'native' };
  const label = (labels: Record<string, string>) => ({ type: 'session.labelled', labels });
  const ended = { type: 'tool.ended', turn, call: 'c', outcome: 'ok', parts: [], durationMs: 0 };
  const sessions = {
    spoken: [
      input,
      { type: 'text.ended', turn, block: 'b', text: 'Half \ud83d of a "pair".' },
      { type: 'text.ended', turn, block: 'b', text: '' },
      { type: 'call.deferred', turn, call: 'c' },
      ended,
      label({ site: 'old.org', url: 'kept' }),
      { ...ended, final: true },
      { type: 'session.archived', by: 'ada' },
      label({ site: 'new.org' }),
    ],
    revived: [{ type: 'session.archived', by: 'ada' }, input],
    begun: [
      { ...input, parts: [{ type: 'text', text: 'before' }] },
      { type: 'session.cleared', by: 'ada' },
      { ...input, parts: [{ type: 'text', text: 'first of all' }] },
      { ...input, parts: [{ type: 'text', text: 'then' }] },
      { type: 'session.renamed', title: 'Kept', by: 'ada' },
    ],
    silent: [label({})],
  };
  olderRelease(join(scratch.path, 'parlance.db'), { version: 1, sessions });

  const store = openSqliteStore(scratch.path);
  const spoken = refOf('ada', 'spoken');
  expect(await store.load(spoken)).toMatchObject({
    title: 'Kept',
    head: 9,
    messageCount: 4,
    archived: true,
    labels: { site: 'new.org', url: 'kept' },
  });
  expect(await store.load(refOf('ada', 'revived'))).toMatchObject({
    messageCount: 1,
    archived: false,
    labels: {},
  });
  expect(await store.load(refOf('ada', 'silent'))).toMatchObject({
    messageCount: 0,
    archived: false,
    labels: {},
  });
  const begun = refOf('ada', 'begun');
  expect(await store.load(begun)).toMatchObject({ renamed: true, firstInput: 'first of all' });
  expect(await store.load(spoken)).toMatchObject({ renamed: false, firstInput: '' });
  expect(idsOf((await store.list({ limit: 5 })).sessions)).toEqual(['begun', 'revived', 'silent']);
  expect((await store.read(spoken, 0, 20)).length).toBe(9);
  await store.append(9, [textEvent(spoken, 10)], { ...((await store.load(spoken)) ?? never()), head: 10 });
  await store.preferences.put(spoken.owner, { theme: 'dark' });
  await store.close();
});

test('sessions of an older release are found by approvals and turns, and pending ones are listed', async () => {
  using scratch = scratchFolder();
  const path = join(scratch.path, 'parlance.db');
  const turn = { type: 'turn.started', turn: 'turn-1', input: 'i', agent: { id: 'a', name: 'A' } };
  const asked = (call: string) => ({
    type: 'approval.requested',
    turn: 'turn-1',
    call,
    approval: `asks-${call}`,
  });
  const answered = (call: string) => ({ type: 'approval.answered', call, approval: `asks-${call}` });
  const ended = (call: string) => ({ type: 'tool.ended', turn: 'turn-1', call, outcome: 'ok' });
  const sessions = {
    waits: [turn, asked('a'), answered('a'), ended('a'), asked('b')],
    closed: [asked('c'), { type: 'tool.ended', call: 'c', outcome: 'aborted' }],
    deferred: [asked('d'), answered('d'), { type: 'call.deferred', call: 'd' }],
    quoted: [{ type: 'text.ended', text: 'It says "type":"approval.requested" and "turn.started".' }],
    damaged: [asked('e'), { type: 'text.ended', text: 'will be damaged' }],
  };
  olderRelease(path, { version: 3, sessions, status: 'waiting' });
  {
    using database = new Database(path);
    database.run(
      `UPDATE facts SET body = '{"type":"approval.requested", "turn.started"' WHERE body LIKE '%will be damaged%'`,
    );
  }
  const store = openSqliteStore(scratch.path);
  const sessionOf = async (id: string) =>
    String((await store.lookup({ kind: 'approval', id: ApprovalId.parse(id) }))?.ref.id ?? null);
  expect(await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((call) => sessionOf(`asks-${call}`)))).toEqual([
    'waits',
    'waits',
    'closed',
    'deferred',
    'damaged',
    'null',
  ]);
  expect(await store.lookup({ kind: 'turn', id: TurnId.parse('turn-1') })).toMatchObject({
    ref: refOf('ada', 'waits'),
    approval: 'asks-b',
  });
  const { sessions: waiting } = await store.list({ awaitingApproval: true, limit: 10 });
  expect(idsOf(waiting)).toEqual(['waits', 'damaged']);
  expect(await store.erase(refOf('ada', 'waits'))).toBe(true);
  expect(await sessionOf('asks-b')).toBe('null');
  await store.close();
});

const never = (): never => {
  throw new Error('the session is gone');
};
