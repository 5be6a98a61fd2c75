import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import {
  begin,
  outcomeOf,
  recordOf,
  refOf,
  textEvent,
  textEvents,
} from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { openConnection } from './connection.ts';
import { groupCommit } from './group-commit.ts';
import { openSqliteStore } from './open.ts';
import { makeAppend, prepareAppend, prepareRead } from './sessions.ts';

const synced = { sync: () => Promise.resolve() };

function openCounting(folder: string) {
  const commits: number[] = [];
  return { commits, store: openSqliteStore(folder, { onCommit: (appends) => commits.push(appends) }) };
}

test('concurrent appends share one commit', async () => {
  using scratch = scratchFolder();
  const { store, commits } = openCounting(scratch.path);
  const refs = Array.from({ length: 200 }, (_, index) => refOf('ada', `s${index}`));
  await Promise.all(refs.map((ref) => begin(store, ref)));
  expect(commits).toEqual([200]);
  await begin(store, refOf('ada', 'alone'));
  expect(commits).toEqual([200, 1]);
  await store.close();
});

test('appends in the same event loop turn share one commit', async () => {
  using scratch = scratchFolder();
  const { store, commits } = openCounting(scratch.path);
  const handler = async (index: number) => {
    await Promise.resolve();
    await begin(store, refOf('ada', `s${index}`));
  };
  await Promise.all(Array.from({ length: 20 }, (_, index) => handler(index)));
  expect(commits).toEqual([20]);
  await store.close();
});

test('a conflict fails only its own append and needs no commit', async () => {
  using scratch = scratchFolder();
  const { store, commits } = openCounting(scratch.path);
  const refs = ['a', 'b', 'c'].map((id) => refOf('ada', id));
  const outcomes = refs.flatMap((ref) => [
    outcomeOf(begin(store, ref)),
    outcomeOf(begin(store, ref, { title: 'too late' })),
  ]);
  expect(await Promise.all(outcomes)).toEqual(refs.flatMap(() => ['written', 'AppendConflict']));
  expect(commits).toEqual([3]);
  await store.close();
});

test('the queue is bounded: a full group is written immediately', async () => {
  using scratch = scratchFolder();
  const { store, commits } = openCounting(scratch.path);
  const appends = Array.from({ length: 2_500 }, (_, index) => begin(store, refOf('ada', `s${index}`)));
  expect(commits).toEqual([1_000, 1_000]);
  await Promise.all(appends);
  expect(commits).toEqual([1_000, 1_000, 500]);

  const large = 'x'.repeat(9 * 1024 * 1024);
  const heavy = ['y', 'z'].map((id) => {
    const ref = refOf('ada', id);
    return store.append(0, [textEvent(ref, 1, large)], recordOf(ref, 1));
  });
  expect(commits.at(-1)).toBe(2);
  await Promise.all(heavy);
  await store.close();
});

test('an append that the database rejects fails alone and writes nothing', async () => {
  using scratch = scratchFolder();
  const { store, commits } = openCounting(scratch.path);
  const [good, bad, later] = [refOf('ada', 'good'), refOf('ada', 'bad'), refOf('ada', 'later')];
  const outcomes = await Promise.all([
    outcomeOf(begin(store, good)),
    // rejected after its session row was written
    outcomeOf(begin(store, bad, { checkpoint: { version: 1.5, seq: 1, state: '{}' } })),
    outcomeOf(store.append(1, textEvents(bad, 1, 1), recordOf(bad, 2))),
    outcomeOf(begin(store, later)),
  ]);
  expect(outcomes).toEqual(['written', 'SQLiteError', 'AppendConflict', 'written']);
  expect(commits).toEqual([2]);
  expect(await store.load(bad)).toBeNull();
  await store.close();
});

test('if the commit fails, the whole group is refused, nothing is stored, and the store continues', async () => {
  using scratch = scratchFolder();
  const { store, commits } = openCounting(scratch.path);
  await begin(store, refOf('ada', 'before'));
  // a deferred foreign key, checked by COMMIT
  alter(
    scratch.path,
    `CREATE TABLE doomed (session INTEGER REFERENCES sessions (row) DEFERRABLE INITIALLY DEFERRED);
     CREATE TRIGGER doom AFTER INSERT ON sessions WHEN new.title = 'poison'
     BEGIN INSERT INTO doomed VALUES (-1); END;`,
  );

  const refs = ['a', 'b', 'c'].map((id) => refOf('ada', id));
  const outcomes = refs.map((ref, index) =>
    outcomeOf(begin(store, ref, { title: index === 1 ? 'poison' : 'harmless' })),
  );
  expect(await Promise.all(outcomes)).toEqual(['SQLiteError', 'SQLiteError', 'SQLiteError']);
  for (const ref of refs) {
    expect(await store.load(ref)).toBeNull();
    expect(await store.read(ref, 0, 10)).toEqual([]);
  }

  await Promise.all(refs.map((ref) => begin(store, ref)));
  expect(commits).toEqual([1, 3]);
  await store.close();
});

test('if the commit fails, an append that failed before reports its own reason', async () => {
  using scratch = scratchFolder();
  const { store } = openCounting(scratch.path);
  const ref = refOf('ada', 'taken');
  await begin(store, ref);
  alter(
    scratch.path,
    `CREATE TABLE doomed (session INTEGER REFERENCES sessions (row) DEFERRABLE INITIALLY DEFERRED);
     CREATE TRIGGER doom AFTER INSERT ON sessions BEGIN INSERT INTO doomed VALUES (-1); END;`,
  );
  const outcomes = [outcomeOf(begin(store, ref)), outcomeOf(begin(store, refOf('ada', 'new')))];
  expect(await Promise.all(outcomes)).toEqual(['AppendConflict', 'SQLiteError']);
  await store.close();
});

test('if the log cannot be synced, all pending and later writes are refused', async () => {
  using scratch = scratchFolder();
  using database = openConnection(scratch.path);
  const disk = Promise.withResolvers<void>();
  const group = groupCommit(database, {
    log: { sync: () => disk.promise },
    perform: prepareAppend(database),
  });
  const add = (id: string) =>
    group.add(makeAppend(0, [textEvent(refOf('ada', id), 1)], recordOf(refOf('ada', id), 1)), 1);
  const reasonOf = (added: Promise<void>) =>
    added.then(
      () => 'kept',
      (thrown: Error) => thrown.message,
    );

  const synced = reasonOf(add('being synced'));
  void group.flush();
  const written = reasonOf(add('written while the disk is waited for'));
  void group.flush();
  const waiting = reasonOf(add('not written yet'));
  expect(numberOfSessions(database)).toBe(2);
  disk.reject(new Error('the disk is gone'));
  const gone = 'the disk is gone';
  expect(await Promise.all([synced, written, waiting])).toEqual([gone, gone, gone]);
  expect(await reasonOf(add('later'))).toBe(gone);
  expect(() => group.check()).toThrow(gone);
  expect(numberOfSessions(database)).toBe(2);
});

const numberOfSessions = (database: Database): unknown =>
  database.prepare('SELECT count(*) FROM sessions').values()[0]?.[0];

test('if SQLite rolls back in the middle, nothing of the group is written outside of the transaction', async () => {
  using scratch = scratchFolder();
  const { store, commits } = openCounting(scratch.path);
  alter(
    scratch.path,
    `CREATE TRIGGER give_up AFTER INSERT ON sessions WHEN new.title = 'poison'
     BEGIN SELECT RAISE(ROLLBACK, 'as a broken disk would'); END`,
  );
  const refs = ['a', 'b', 'c'].map((id) => refOf('ada', id));
  const outcomes = refs.map((ref, index) =>
    outcomeOf(begin(store, ref, { title: index === 1 ? 'poison' : 'harmless' })),
  );
  expect(await Promise.all(outcomes)).toEqual(['SQLiteError', 'SQLiteError', 'SQLiteError']);
  expect((await store.list({ limit: 5 })).sessions).toEqual([]);
  await Promise.all(refs.map((ref) => begin(store, ref)));
  expect(commits).toEqual([3]);
  await store.close();
});

test('if the disk is full, acknowledged events remain and smaller appends continue', async () => {
  using scratch = scratchFolder();
  using database = openConnection(scratch.path);
  const group = groupCommit(database, { log: synced, perform: prepareAppend(database) });
  const read = prepareRead(database);
  const ref = refOf('ada', 'first');
  const append = (seq: number, text: string) =>
    group.add(makeAppend(seq - 1, [textEvent(ref, seq, text)], recordOf(ref, seq)), text.length);

  await append(1, 'small');
  database.run('PRAGMA max_page_count = 40');
  await expect(append(2, 'x'.repeat(1_000_000))).rejects.toThrow('full');
  await append(2, 'small again');
  expect(read(ref, 0, 10)).toEqual([textEvent(ref, 1, 'small'), textEvent(ref, 2, 'small again')]);
});

/** Changes the schema underneath the store to provoke failures. */
function alter(folder: string, sql: string): void {
  using database = new Database(join(folder, 'parlance.db'));
  database.run(sql);
}
