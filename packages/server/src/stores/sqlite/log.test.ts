/** Writes are acknowledged after the log is synced, never before. */
import { Database } from 'bun:sqlite';
import { afterEach, expect, spyOn, test } from 'bun:test';
import fs, { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { begin, outcomeOf, refOf } from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { DATABASE_FILE } from './connection.ts';
import { groupCommit } from './group-commit.ts';
import { openSqliteStore } from './open.ts';

const realSync = fs.fdatasync;
const spied = spyOn(fs, 'fdatasync');
afterEach(() => {
  spied.mockReset();
  spied.mockImplementation(realSync);
});

/** A log whose syncs the test completes. */
function heldLog() {
  const held: PromiseWithResolvers<void>[] = [];
  return {
    held,
    sync() {
      const pending = Promise.withResolvers<void>();
      held.push(pending);
      return pending.promise;
    },
  };
}

function openNotes(folder: string) {
  const database = new Database(join(folder, 'notes.db'), { strict: true });
  database.run('PRAGMA journal_mode = WAL');
  database.run('CREATE TABLE notes (text TEXT)');
  const insert = database.prepare('INSERT INTO notes VALUES (?)');
  const commits: number[] = [];
  const log = heldLog();
  const level = () => database.prepare<{ synchronous: number }, []>('PRAGMA synchronous').get()?.synchronous;
  const levels: unknown[] = [];
  const group = groupCommit<string>(database, {
    log,
    perform(text) {
      levels.push(level());
      insert.run(text);
    },
    onCommit: (writes) => commits.push(writes),
  });
  const ended: string[] = [];
  const add = (text: string) =>
    void group.add(text, text.length).then(
      () => ended.push(text),
      () => ended.push(`not ${text}`),
    );
  return { database, log, group, commits, ended, add, level, levels };
}

/** Two event loop turns: pending writes are written in the first of them. */
const turn = async () => {
  for (let turns = 0; turns < 2; turns++) await new Promise<void>((resolve) => setImmediate(resolve));
};

test('a write is acknowledged after the sync that follows its commit; writes during a sync share the next one', async () => {
  using scratch = scratchFolder();
  const { database, log, commits, ended, add } = openNotes(scratch.path);
  add('one');
  add('two');
  await turn();
  expect([commits, ended, log.held.length]).toEqual([[2], [], 1]);

  add('three');
  await turn();
  add('four');
  await turn();
  expect([commits, ended, log.held.length]).toEqual([[2], [], 1]);

  log.held[0]?.resolve();
  await turn();
  expect([commits, ended, log.held.length]).toEqual([[2, 2], ['one', 'two'], 2]);
  log.held[1]?.resolve();
  await turn();
  expect([commits, ended, log.held.length]).toEqual([[2, 2], ['one', 'two', 'three', 'four'], 2]);
  database.close();
});

test('flush writes immediately and resolves when everything is durable', async () => {
  using scratch = scratchFolder();
  const { database, log, group, commits, ended, add } = openNotes(scratch.path);
  await group.flush();
  add('one');
  await turn();
  add('two');
  const flushed = group.flush().then(() => ended.push('flushed'));
  expect(commits).toEqual([1, 1]);
  log.held[0]?.resolve();
  await turn();
  expect(ended).toEqual(['one']);
  log.held[1]?.resolve();
  await flushed;
  expect(ended).toEqual(['one', 'two', 'flushed']);
  database.close();
});

test('if the log cannot be synced, nothing is acknowledged and no more writes are accepted', async () => {
  using scratch = scratchFolder();
  const { database, log, group, commits, ended, add } = openNotes(scratch.path);
  add('one');
  await turn();
  add('two');
  group.check();
  log.held[0]?.reject(new Error('the disk is gone'));
  await turn();
  add('three');
  await turn();
  await group.flush();
  expect([commits, ended, log.held.length]).toEqual([[1], ['not one', 'not two', 'not three'], 1]);
  expect(() => group.check()).toThrow('the disk is gone');
  database.close();
});

test('only appends use the asynchronous sync: every other commit syncs itself', async () => {
  using scratch = scratchFolder();
  const { database, add, level, levels } = openNotes(scratch.path);
  const [normal, full] = [1, 2];
  add('one');
  await turn();
  expect([...levels, level()]).toEqual([normal, full]);
  database.close();
});

test('the store syncs its log once per commit, then acknowledges', async () => {
  using scratch = scratchFolder();
  const store = openSqliteStore(scratch.path);
  const synced: string[] = [];
  const order: string[] = [];
  spied.mockImplementation(((file: number, done: (error: Error | null) => void) => {
    synced.push(readlinkSync(`/proc/self/fd/${file}`));
    realSync(file, (error) => {
      order.push('synced');
      done(error);
    });
  }) as typeof realSync);
  await Promise.all(['a', 'b'].map((id) => begin(store, refOf('ada', id)).then(() => order.push(id))));
  expect(synced).toEqual([fs.realpathSync(join(scratch.path, `${DATABASE_FILE}-wal`))]);
  expect(order).toEqual(['synced', 'a', 'b']);
  await store.close();
});

test('a store closed during a sync completes the pending writes and then reports that it is closed', async () => {
  using scratch = scratchFolder();
  const store = openSqliteStore(scratch.path);
  const held = Promise.withResolvers<void>();
  spied.mockImplementation(((file: number, done: (error: Error | null) => void) => {
    void held.promise.then(() => realSync(file, done));
  }) as typeof realSync);
  const appended = begin(store, refOf('ada', 'a'));
  await turn();
  const read = store.load(refOf('ada', 'a'));
  const closed = store.close();
  held.resolve();
  await expect(read).rejects.toThrow('the store is closed');
  await Promise.all([appended, closed]);
  const again = openSqliteStore(scratch.path);
  expect((await again.load(refOf('ada', 'a')))?.head).toBe(1);
  await again.close();
});

test('a store with a failed log reports the reason, also for readiness, until it is reopened', async () => {
  using scratch = scratchFolder();
  const store = openSqliteStore(scratch.path);
  await begin(store, refOf('ada', 'before'));
  spied.mockImplementation(((_file: number, done: (error: Error) => void) => {
    done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
  }) as typeof realSync);
  const words = 'The storage of the server does not work at the moment.';
  await expect(begin(store, refOf('ada', 'lost'))).rejects.toThrow(words);
  spied.mockImplementation(realSync);
  await expect(begin(store, refOf('ada', 'after'))).rejects.toThrow(words);
  await expect(store.writable()).rejects.toThrow(words);
  expect((await store.load(refOf('ada', 'before')))?.head).toBe(1);
  await store.close();

  const again = openSqliteStore(scratch.path);
  await again.writable();
  expect(await outcomeOf(begin(again, refOf('ada', 'after')))).toBe('written');
  await again.close();
});
