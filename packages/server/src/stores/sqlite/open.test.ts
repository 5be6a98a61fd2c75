import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { begin, refOf } from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { openConnection } from './connection.ts';
import { openSqliteStore } from './open.ts';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('the folder and its files are accessible to the owner only', async () => {
  using scratch = scratchFolder();
  const folder = join(scratch.path, 'deep', 'data');
  const store = openSqliteStore(folder);
  await begin(store, refOf('ada', 'first'));
  expect(modeOf(folder)).toBe(0o700);
  for (const file of readdirSync(folder)) expect([file, modeOf(join(folder, file))]).toEqual([file, 0o600]);
  await store.close();
});

test('an existing folder and lock with wider permissions are restricted', async () => {
  using scratch = scratchFolder();
  const folder = join(scratch.path, 'data');
  mkdirSync(folder);
  writeFileSync(join(folder, 'parlance.lock'), '');
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'parlance.lock'), 0o644);
  const store = openSqliteStore(folder, { exclusive: true });
  expect(modeOf(folder)).toBe(0o700);
  for (const file of readdirSync(folder)) expect([file, modeOf(join(folder, file))]).toEqual([file, 0o600]);
  await store.close();
});

test('a shared folder is not restricted', async () => {
  using scratch = scratchFolder();
  const folder = join(scratch.path, 'shared');
  mkdirSync(folder);
  chmodSync(folder, 0o1777);
  const store = openSqliteStore(folder, { exclusive: true });
  expect(modeOf(folder)).toBe(0o777);
  await store.close();
});

test('a closed store leaves one file with everything', async () => {
  using scratch = scratchFolder();
  const store = openSqliteStore(scratch.path, { exclusive: true });
  const writing = begin(store, refOf('ada', 'first'));
  await store.close();
  await writing;
  expect(existsSync(join(scratch.path, 'parlance.db-wal'))).toBe(false);
  using database = new Database(join(scratch.path, 'parlance.db'), { readonly: true });
  expect(database.query('SELECT count(*) AS events FROM events').get()).toEqual({ events: 1 });
});

test('commits are synced to disk before they are acknowledged', async () => {
  using scratch = scratchFolder();
  using database = openConnection(scratch.path);
  expect(database.query('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  expect(database.query('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  expect(database.query('PRAGMA foreign_keys').get()).toEqual({ foreign_keys: 1 });
});

test('an event damaged on disk is reported by its number and not skipped', async () => {
  using scratch = scratchFolder();
  const ref = refOf('ada', 'first');
  const store = openSqliteStore(scratch.path);
  await begin(store, ref, { head: 3 });
  using database = new Database(join(scratch.path, 'parlance.db'));
  database.run(`UPDATE events SET body = '{"type":"text.ended"}' WHERE seq = 2`);
  await expect(store.read(ref, 0, 10)).rejects.toThrow('Event 2 of the session is damaged.');
  expect((await store.read(ref, 2, 10)).length).toBe(1);
  await store.close();
});
