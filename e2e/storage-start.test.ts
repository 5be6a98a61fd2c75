/** A broken data folder stops the start with one line, and is not changed. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outcome, runParlance } from '../packages/cli/src/testing/run-parlance.ts';
import { durableOf, startProcess, submit } from './server-process.ts';
import { mountDisk, noDisk } from './small-disk.ts';

const root = mkdtempSync(join(tmpdir(), 'parlance-storage-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newFolder = () => mkdtempSync(join(root, 'case-'));

const startOn = (data: string): Promise<Outcome> =>
  runParlance(['serve', '--port', '0', '--data', data, '--log-level', 'silent'], { cwd: root });
const refused = (line: string): Outcome => ({ code: 1, stdout: '', stderr: `parlance: ${line}\n` });

/** A closed data folder with one conversation. */
const used = join(root, 'used', 'data');
beforeAll(async () => {
  mkdirSync(join(root, 'used'));
  await using server = await startProcess(join(root, 'used'));
  for (let turn = 0; turn < 20; turn++) await submit(server, 'kept', `echo ${'x'.repeat(2_000)} ${turn}`);
  await server.kill();
  // `cpSync` copies no sockets.
  rmSync(join(used, 'parlance.sock'));
  using database = new Database(join(used, 'parlance.db'));
  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
});

/** A copy of it, and the path of its database. */
function copyOfUsed(): [data: string, path: string] {
  const data = join(newFolder(), 'data');
  cpSync(used, data, { recursive: true });
  return [data, join(data, 'parlance.db')];
}

const DAMAGED = 'the database is damaged; docs/guides/backup.md says how to restore a backup';
const MALFORMED = '(database disk image is malformed)';

const FILES: Record<string, { spoil: (path: string) => void; line: (data: string, path: string) => string }> =
  {
    'a file that is not SQLite': {
      spoil: (path) => writeFileSync(path, 'Dear diary, this is not a database. '.repeat(400)),
      line: (_, path) => `${path} is not a Parlance database`,
    },
    'a database of another program': {
      spoil: (path) => {
        rmSync(path);
        using database = new Database(path, { create: true });
        database.run('CREATE TABLE sessions (theirs TEXT)');
      },
      line: (_, path) => `${path} is not a Parlance database`,
    },
    'a database of a newer version': {
      spoil: (path) => {
        using database = new Database(path);
        database.run('PRAGMA user_version = 9999; PRAGMA wal_checkpoint(TRUNCATE)');
      },
      line: (_, path) => `${path} is from a newer version of Parlance (schema 9999, this one knows `,
    },
    'a truncated database': {
      spoil: (path) => writeFileSync(path, readFileSync(path).subarray(0, readFileSync(path).length / 2)),
      line: (data) => `${data} cannot be used: ${DAMAGED} ${MALFORMED}`,
    },
    'a database that was overwritten from its second page on': {
      spoil: (path) => writeFileSync(path, readFileSync(path).fill(0xff, 4096)),
      line: (data) => `${data} cannot be used: ${DAMAGED} ${MALFORMED}`,
    },
    'a database whose header was overwritten': {
      spoil: (path) => writeFileSync(path, readFileSync(path).fill(0xff, 0, 100)),
      line: (_, path) => `${path} is not a Parlance database`,
    },
  };

describe('one clear line, exit 1, and an unchanged file:', () => {
  for (const [name, { spoil, line }] of Object.entries(FILES)) {
    test(name, async () => {
      const [data, path] = copyOfUsed();
      spoil(path);
      const before = readFileSync(path);
      const { code, stdout, stderr } = await startOn(data);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toStartWith(`parlance: ${line(data, path)}`);
      expect(stderr.split('\n')).toHaveLength(2);
      expect(readFileSync(path).equals(before)).toBe(true);
    });
  }

  test('an unclosed database of another program, with its other files', async () => {
    const data = join(newFolder(), 'data');
    mkdirSync(data);
    const path = join(data, 'parlance.db');
    const theirs = join(newFolder(), 'theirs.db');
    using database = new Database(theirs, { create: true });
    database.run('PRAGMA journal_mode = WAL');
    database.run('CREATE TABLE diary (day TEXT)');
    for (const suffix of ['', '-wal']) cpSync(theirs + suffix, path + suffix);
    const before = ['', '-wal'].map((suffix) => readFileSync(path + suffix));
    expect(await startOn(data)).toEqual(refused(`${path} is not a Parlance database`));
    expect(['', '-wal'].map((suffix) => readFileSync(path + suffix))).toEqual(before);
  });

  test('a folder instead of the database', async () => {
    const data = join(newFolder(), 'data');
    mkdirSync(join(data, 'parlance.db'), { recursive: true });
    expect(await startOn(data)).toEqual(refused(`${join(data, 'parlance.db')} is not a file`));
  });
});

test('a second server on the folder is refused, and the first is not affected', async () => {
  const folder = newFolder();
  await using first = await startProcess(folder);
  await submit(first, 'mine', 'echo one');
  const data = join(folder, 'data');
  expect(await startOn(data)).toEqual(
    refused(
      `another Parlance server is using ${data}: open ${first.http}, or choose another folder with --data FOLDER`,
    ),
  );
  expect(await submit(first, 'mine', 'echo two')).toBe(true);
});

describe.skipIf(noDisk)('on a small disk (skipped if none can be mounted)', () => {
  test('a read-only folder is one clear line, and its content is unchanged', async () => {
    using disk = mountDisk(16);
    const data = join(disk.path, 'data');
    cpSync(used, data, { recursive: true });
    disk.readOnly();
    const reason = `EROFS: read-only file system, open '${join(data, 'parlance.lock')}'`;
    expect(await startOn(data)).toEqual(
      refused(
        `${data} cannot be used: it cannot be written to; choose another folder with --data (${reason})`,
      ),
    );
    const none = join(disk.path, 'none');
    expect((await startOn(none)).stderr).toStartWith(
      `parlance: ${none} cannot be used: it cannot be written`,
    );
  });

  test('a full disk stops a first start with one clear line, and the next one works', async () => {
    using disk = mountDisk(16);
    const data = join(disk.path, 'data');
    disk.fill();
    const { code, stderr } = await startOn(data);
    expect([code, stderr]).toEqual([
      1,
      `parlance: ${data} cannot be used: the disk is full (database or disk is full)\n`,
    ]);
    disk.free();
    await using server = await startProcess(disk.path);
    expect(await submit(server, 'first', 'echo hello')).toBe(true);
  });

  test('a full disk never loses stored data: it is available when there is space again', async () => {
    using disk = mountDisk(16);
    const data = join(disk.path, 'data');
    cpSync(used, data, { recursive: true });
    disk.fill();
    expect(await startOn(data)).toEqual(refused(`${data} cannot be used: the disk is full (disk I/O error)`));
    disk.free();
    await using server = await startProcess(disk.path);
    const events = await durableOf(server, 'kept');
    expect(events.filter(({ type }) => type === 'input.accepted')).toHaveLength(20);
    expect(existsSync(join(data, 'secret'))).toBe(true);
  });
});
