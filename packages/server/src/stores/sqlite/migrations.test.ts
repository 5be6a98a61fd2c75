import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { begin, refOf } from '../contract/samples.ts';
import { scratchFolder } from '../contract/scratch.ts';
import { MIGRATIONS } from './migrations.ts';
import { openSqliteStore } from './open.ts';

const REFUSED: Record<string, { make: (path: string) => void | Promise<void>; says: string }> = {
  'a SQLite database of another program': {
    make: (path) => {
      using database = new Database(path, { create: true });
      database.run('PRAGMA journal_mode = WAL');
      database.run('CREATE TABLE facts (theirs TEXT)');
      database.run("INSERT INTO facts VALUES ('theirs')");
    },
    says: 'is not a Parlance database',
  },
  'an empty database that another program has claimed': {
    make: (path) => {
      using database = new Database(path, { create: true });
      database.run('PRAGMA application_id = 42');
    },
    says: 'is not a Parlance database',
  },
  'a file that is no database': {
    make: (path) => writeFileSync(path, 'Dear diary, this is not a database. '.repeat(40)),
    says: 'is not a Parlance database',
  },
  'a database from a newer version': {
    make: async (path) => {
      await openSqliteStore(dirname(path)).close();
      using database = new Database(path);
      database.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
      database.run('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    says: 'is from a newer version of Parlance',
  },
};

describe('what cannot be used is refused in one line and left as it was', () => {
  for (const [name, { make, says }] of Object.entries(REFUSED)) {
    test(name, async () => {
      using scratch = scratchFolder();
      const path = join(scratch.path, 'parlance.db');
      await make(path);
      const before = readFileSync(path);
      const open = () => openSqliteStore(scratch.path);
      expect(open).toThrow(`${path} ${says}`);
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

test('an empty file is taken for a new database, as after a crash before the first write', async () => {
  using scratch = scratchFolder();
  writeFileSync(join(scratch.path, 'parlance.db'), '');
  const store = openSqliteStore(scratch.path);
  await begin(store, refOf('ada', 'first'));
  await store.close();
});

test('a database that is up to date is opened without a write', async () => {
  using scratch = scratchFolder();
  await openSqliteStore(scratch.path).close();
  const before = readFileSync(join(scratch.path, 'parlance.db'));
  await openSqliteStore(scratch.path).close();
  expect(readFileSync(join(scratch.path, 'parlance.db')).equals(before)).toBe(true);
});
