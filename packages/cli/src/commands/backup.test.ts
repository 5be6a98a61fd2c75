import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '@parlance/server/data';
import { until } from '../../../server/src/testing/until.ts';
import { type Outcome, PARLANCE, runParlance } from '../testing/run-parlance.ts';

const cwd = mkdtempSync(join(tmpdir(), 'parlance-backup-'));
afterAll(() => rmSync(cwd, { recursive: true }));
const at = (...path: string[]) => join(cwd, ...path);
const parlance = (args: string[], input?: string): Promise<Outcome> => runParlance(args, { cwd, input });
const backup = (...args: string[]) => parlance(['backup', ...args, '--data', 'data']);
const refused = (code: number, line: string): Outcome => ({
  code,
  stdout: '',
  stderr: `parlance: ${line}\n`,
});
const drafts = () => readdirSync(cwd).filter((name) => name.endsWith('.part'));

const SESSION = [
  {
    format: 'parlance.session',
    version: 2,
    session: { owner: 'ada', id: 'one' },
    eventVersion: 1,
    events: 2,
  },
  {
    ...{ session: 'one', id: 'a', at: 1, seq: 1, type: 'session.created', dialect: 'native', named: true },
    ...{ domain: 'general', agent: { id: 'coder', name: 'Coder' } },
  },
  { session: 'one', id: 'b', at: 2, seq: 2, type: 'session.renamed', title: 'First', by: 'ada' },
];

beforeAll(async () => {
  const lines = SESSION.map((line) => `${JSON.stringify(line)}\n`).join('');
  expect((await parlance(['import', '--data', 'data'], lines)).code).toBe(0);
  writeFileSync(at('data', 'secret'), `${'s'.repeat(64)}\n`);
});

describe('a backup', () => {
  test('removes what a killed one to the same target has left, and nothing else', async () => {
    const killed = Bun.spawnSync(['true']).pid;
    const draft = (name: string, pid: number) => `${name}.${pid}.${crypto.randomUUID()}.part`;
    const kept = [draft('again', process.pid), draft('other', killed), 'again.part'].sort();
    for (const name of [draft('again', killed), ...kept]) {
      mkdirSync(at(name));
      writeFileSync(at(name, 'parlance.db'), 'incomplete');
    }
    expect((await backup('again')).code).toBe(0);
    expect(drafts().sort()).toEqual(kept);
    for (const name of kept) rmSync(at(name), { recursive: true });
  });

  test('that is killed while it copies leaves nothing behind', async () => {
    const large = mkdtempSync(at('large-'));
    cpSync(at('data'), large, { recursive: true });
    using database = new Database(join(large, 'parlance.db'));
    database.run('CREATE TABLE filler (bytes BLOB)');
    database.run(
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64) INSERT INTO filler SELECT randomblob(1000000) FROM n',
    );
    const place = mkdtempSync(at('place-'));
    const running = Bun.spawn(['sh', PARLANCE, 'backup', join(place, 'killed'), '--data', large], {
      ...{ cwd, detached: true, stdout: 'ignore', stderr: 'ignore' },
    });
    await until(() => readdirSync(place).length > 0);
    process.kill(-running.pid, 'SIGKILL');
    await running.exited;
    expect(running.signalCode).toBe('SIGKILL');
    await until(() => readdirSync(place).length === 0);
    expect((await backup(join(place, 'killed'))).code).toBe(0);
    expect(readdirSync(place)).toEqual(['killed']);
  });

  test('is a data folder with database and secret, readable by its owner only', async () => {
    const output = 'backed up 1 session with 2 events to whole\n';
    expect(await backup('whole')).toEqual({ code: 0, stdout: output, stderr: '' });
    expect(readdirSync(at('whole')).sort()).toEqual(['parlance.db', 'secret']);
    expect(statSync(at('whole')).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(at('whole'))) expect(statSync(at('whole', name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(at('whole', 'secret'))).toEqual(readFileSync(at('data', 'secret')));
    expect(drafts()).toEqual([]);
    const checked = await parlance(['backup', '--check', 'whole']);
    expect(checked).toEqual({ code: 0, stdout: 'whole is intact: 1 session with 2 events\n', stderr: '' });
    const store = openSqliteStore(at('whole'), { exclusive: true });
    expect((await store.list({ limit: 5 })).sessions).toMatchObject([{ title: 'First', head: 2 }]);
    await store.close();
  });

  test('accepts an empty target folder and refuses any other', async () => {
    mkdirSync(at('empty'));
    expect((await backup('empty')).code).toBe(0);
    const before = readFileSync(at('empty', 'parlance.db'));
    expect(await backup('empty')).toEqual(refused(1, 'empty already exists'));
    expect(readFileSync(at('empty', 'parlance.db'))).toEqual(before);
  });

  test('to a .db file contains only the database, and reports it', async () => {
    const { stdout } = await backup('alone.db');
    expect(stdout).toBe(
      'backed up 1 session with 2 events to alone.db\nthe secret that signs tokens is not included\n',
    );
    expect(statSync(at('alone.db')).mode & 0o777).toBe(0o600);
    expect((await parlance(['backup', '--check', 'alone.db'])).code).toBe(0);
    expect(drafts()).toEqual([]);
  });

  test('does not change the source', async () => {
    const before = readFileSync(at('data', 'parlance.db'));
    await backup('again');
    expect(readFileSync(at('data', 'parlance.db'))).toEqual(before);
  });
});

describe('refused in one line, with nothing left behind:', () => {
  const cases: [args: string[], code: number, line: string][] = [
    [['a', 'b'], 2, 'backup takes only one target'],
    [['new', '--data', 'gone'], 1, `data folder does not exist: ${at('gone')}`],
    [['new', '--data', 'bare'], 1, `no database in ${at('bare')}`],
    [['--check', 'gone'], 1, `nothing found at ${at('gone')}`],
    [['--check', 'bare'], 1, `no database in ${at('bare')}`],
    [['data/secret/new'], 1, 'data/secret/new cannot be written (ENOTDIR: not a directory)'],
  ];
  for (const [args, code, line] of cases) {
    test(`backup ${args.join(' ')}`, async () => {
      mkdirSync(at('bare'), { recursive: true });
      const data = args.includes('--data') ? [] : ['--data', 'data'];
      expect(await parlance(['backup', ...args, ...data])).toEqual(refused(code, line));
      expect([existsSync(at('new')), drafts()]).toEqual([false, []]);
    });
  }

  const DAMAGES: Record<string, [damage: (database: Database) => void, line: (path: string) => string]> = {
    'an event that is gone': [
      (database) => database.run('DELETE FROM events WHERE seq = 1'),
      (path) => `${path} is damaged: sessions with lost events: 1`,
    ],
    'an event that is not JSON': [
      (database) => database.run(`UPDATE events SET body = '{"type":' WHERE seq = 1`),
      (path) => `${path} is damaged: events that are not JSON: 1`,
    ],
    'a database of a newer version': [
      (database) => database.run('PRAGMA user_version = 9999'),
      (path) => `${path} is from a newer version of Parlance (schema 9999, this one knows `,
    ],
  };
  for (const [name, [damage, line]] of Object.entries(DAMAGES)) {
    test(name, async () => {
      const folder = mkdtempSync(at('damaged-'));
      cpSync(at('data'), folder, { recursive: true });
      using database = new Database(join(folder, 'parlance.db'));
      damage(database);
      const { code, stderr } = await parlance(['backup', '--check', folder]);
      expect(code).toBe(1);
      expect(stderr).toStartWith(`parlance: ${line(join(folder, 'parlance.db'))}`);
      expect((await parlance(['backup', 'never', '--data', folder])).code).toBe(1);
      expect([existsSync(at('never')), drafts()]).toEqual([false, []]);
    });
  }

  test('a database whose pages were overwritten', async () => {
    const folder = mkdtempSync(at('damaged-'));
    const bytes = readFileSync(at('data', 'parlance.db'));
    writeFileSync(join(folder, 'parlance.db'), bytes.fill(0xff, 8192));
    for (const args of [
      ['--check', folder],
      ['never', '--data', folder],
    ]) {
      const { code, stderr } = await parlance(['backup', ...args]);
      expect(code).toBe(1);
      expect(stderr).toContain('damaged');
      expect(stderr.split('\n')).toHaveLength(2);
    }
    expect([existsSync(at('never')), drafts()]).toEqual([false, []]);
  });
});
