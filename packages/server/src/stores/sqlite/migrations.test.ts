import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventVersion } from '@parlance/protocol';
import { begin, idsOf, newerUpcasts, refOf } from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { MIGRATIONS } from './migrations.ts';
import { openSqliteStore } from './open.ts';

const REFUSED: Record<string, { make: (path: string) => void | Promise<void>; message: string }> = {
  'a SQLite database of another program': {
    make: (path) => {
      using database = new Database(path, { create: true });
      database.run('PRAGMA journal_mode = WAL');
      database.run('CREATE TABLE events (theirs TEXT)');
      database.run("INSERT INTO events VALUES ('theirs')");
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

const NEWER = {
  migrations: [...MIGRATIONS, "ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'"],
};

test('a database of an older release is upgraded in place, and the older release then refuses it', async () => {
  using scratch = scratchFolder();
  const ref = refOf('ada', 'first');
  const older = openSqliteStore(scratch.path);
  await begin(older, ref);
  await older.close();
  const newer = openSqliteStore(scratch.path, NEWER);
  expect(idsOf((await newer.list({ limit: 5 })).sessions)).toEqual(['first']);
  expect(await newer.read(ref, 0, 5)).toHaveLength(1);
  await begin(newer, refOf('ada', 'second'));
  await newer.close();
  {
    using database = new Database(join(scratch.path, 'parlance.db'));
    expect(database.query('SELECT id, colour FROM sessions ORDER BY id').all()).toEqual([
      { id: 'first', colour: 'red' },
      { id: 'second', colour: 'red' },
    ]);
  }
  expect(() => openSqliteStore(scratch.path)).toThrow(
    `is from a newer version of Parlance (schema ${MIGRATIONS.length + 1}, this one knows ${MIGRATIONS.length})`,
  );
});

test('a migration that fails changes nothing', async () => {
  using scratch = scratchFolder();
  const store = openSqliteStore(scratch.path);
  await begin(store, refOf('ada', 'first'));
  await store.close();
  const migrations = [...NEWER.migrations, 'INSERT INTO missing VALUES (1)'];
  expect(() => openSqliteStore(scratch.path, { migrations })).toThrow('no such table: missing');
  const again = openSqliteStore(scratch.path);
  expect(idsOf((await again.list({ limit: 5 })).sessions)).toEqual(['first']);
  await again.close();
});
