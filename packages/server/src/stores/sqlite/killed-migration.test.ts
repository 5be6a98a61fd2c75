/** A process that is killed at any step of an upgrade leaves the old schema or the new one. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { begin, refOf } from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { MIGRATIONS } from './migrations.ts';
import { openSqliteStore } from './open.ts';

/** The steps of a later release. */
const migrations = [
  ...MIGRATIONS,
  "ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'",
  'CREATE INDEX sessions_by_colour ON sessions (colour)',
  "CREATE TABLE colours (name TEXT PRIMARY KEY) STRICT; INSERT INTO colours VALUES ('red')",
];

/** Opens the folder and kills itself before the given statement. */
const PROGRAM = `
  const { Database } = require('bun:sqlite');
  const { run } = Database.prototype;
  let left = Number(process.argv.at(-1));
  Database.prototype.run = function (...given) {
    if (left-- === 0) process.kill(process.pid, 'SIGKILL');
    return run.apply(this, given);
  };
  const { openSqliteStore } = await import(${JSON.stringify(join(import.meta.dir, 'open.ts'))});
  const migrations = ${JSON.stringify(migrations)};
  await openSqliteStore(process.argv.at(-2), { exclusive: true, migrations }).close();
`;

/** Resolves with false if it ended before that statement. */
async function openedUntil(statement: number, folder: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, '-e', PROGRAM, folder, String(statement)], {
    stderr: 'inherit',
  });
  await child.exited;
  return child.signalCode === 'SIGKILL';
}

function schemaOf(folder: string) {
  using database = new Database(join(folder, 'parlance.db'));
  const version = database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version;
  const objects = database.query('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
  return { version, objects };
}

test('the old schema or the new one is left, and the next start completes the upgrade', async () => {
  using first = scratchFolder();
  const created = openSqliteStore(first.path, { exclusive: true });
  await begin(created, refOf('ada', 'first'));
  await created.close();
  const old = readFileSync(join(first.path, 'parlance.db'));
  const before = schemaOf(first.path);
  await openSqliteStore(first.path, { migrations }).close();
  const after = schemaOf(first.path);
  expect([before.version, after.version]).toEqual([MIGRATIONS.length, migrations.length]);
  const left: number[] = [];
  for (let statement = 0; ; statement++) {
    using scratch = scratchFolder();
    writeFileSync(join(scratch.path, 'parlance.db'), old);
    const wasKilled = await openedUntil(statement, scratch.path);
    const found = schemaOf(scratch.path);
    expect(found).toEqual(found.version === before.version ? before : after);
    left.push(found.version ?? 0);
    const store = openSqliteStore(scratch.path, { exclusive: true, migrations });
    expect(await store.count({})).toBeGreaterThan(0);
    await store.close();
    expect(schemaOf(scratch.path)).toEqual(after);
    if (!wasKilled) break;
  }
  // killed before and after the commit
  expect(left.length).toBeGreaterThan(migrations.length - MIGRATIONS.length);
  expect(new Set(left)).toEqual(new Set([MIGRATIONS.length, migrations.length]));
});
