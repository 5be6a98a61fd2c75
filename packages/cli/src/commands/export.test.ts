import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventVersion, type PrincipalId, type SessionId } from '@parlance/protocol';
import { openSqliteStore, type SessionRef } from '@parlance/server/data';
import { type Outcome, runParlance } from '../testing/run-parlance.ts';

const cwd = mkdtempSync(join(tmpdir(), 'parlance-export-'));
afterAll(() => rmSync(cwd, { recursive: true }));

const parlance = (args: string[], input?: string): Promise<Outcome> => runParlance(args, { cwd, input });
const refused = (code: number, line: string): Outcome => ({
  code,
  stdout: '',
  stderr: `parlance: ${line}\n`,
});
const refOf = (owner: string, id: string): SessionRef => ({
  owner: owner as PrincipalId,
  id: id as SessionId,
});

const created = { type: 'session.created', dialect: 'native', named: true, domain: 'general' };
const agent = { id: 'coder', name: 'Coder' };

type Content = { readonly events: number; readonly title?: string };

/** A session with `events` events as JSON lines. */
function linesOf(owner: string, id: string, { events, title = 'a title' }: Content): string {
  const header = {
    format: 'parlance.session',
    version: 2,
    session: { owner, id },
    eventVersion: eventVersion(),
    events: events,
  };
  const lines: object[] = [header];
  for (let seq = 1; seq <= events; seq++) {
    const head = { session: id, id: `${id}-${seq}`, at: 1_700_000_000_000 + seq, seq };
    lines.push(
      seq === 1 ? { ...head, ...created, agent } : { ...head, type: 'session.renamed', title, by: owner },
    );
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

const all = [
  linesOf('ada', 'one', { events: 3 }),
  linesOf('bob', 'one', { events: 2 }),
  linesOf('ada', 'two', { events: 700, title: 'é '.repeat(200) }),
];

beforeAll(async () => {
  expect(await parlance(['import', '--data', 'data'], all.join(''))).toEqual({
    code: 0,
    stdout: `imported session one of ada with 3 events
imported session one of bob with 2 events
imported session two of ada with 700 events
`,
    stderr: '',
  });
});

describe('export', () => {
  test('writes a session to standard output or to a private file', async () => {
    const args = ['export', 'one', '--owner', 'ada', '--data', 'data'];
    expect(await parlance(args)).toEqual({ code: 0, stdout: all[0] ?? '', stderr: '' });
    const output = 'exported 1 session with 3 events to one.jsonl\n';
    expect(await parlance([...args, '--out', 'one.jsonl'])).toEqual({ code: 0, stdout: output, stderr: '' });
    expect(readFileSync(join(cwd, 'one.jsonl'), 'utf8')).toBe(all[0] ?? '');
    expect(statSync(join(cwd, 'one.jsonl')).mode & 0o777).toBe(0o600);
    expect(readdirSync(cwd).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('--all writes the sessions of everyone or of one owner', async () => {
    const everyone = (await parlance(['export', '--all', '--data', 'data'])).stdout;
    for (const lines of all) expect(everyone).toContain(lines);
    expect(everyone).toHaveLength(all.join('').length);
    const bobs = await parlance(['export', '--all', '--owner', 'bob', '--data', 'data']);
    expect(bobs.stdout).toBe(all[1] ?? '');
  });

  const cases: [args: string[], code: number, line: string][] = [
    [['one'], 1, 'several users have a session one (ada, bob): choose one with --owner'],
    [['three'], 1, 'session three does not exist'],
    [['two', '--owner', 'bob'], 1, 'bob has no session two'],
    [['one', '--all'], 2, 'export takes a session or --all, not both'],
    [['one', 'two'], 2, 'export takes only one session, or --all'],
    [
      ['two', '--out', 'gone/two.jsonl'],
      1,
      'gone/two.jsonl cannot be written (ENOENT: no such file or directory)',
    ],
    [['two', '--colour'], 2, "Unknown option '--colour'"],
  ];
  for (const [args, code, line] of cases)
    test(`export ${args.join(' ')} is refused`, async () =>
      expect(await parlance(['export', ...args, '--data', 'data'])).toEqual(refused(code, line)));

  test('does not create a missing data folder', async () => {
    expect(await parlance(['export', '--all', '--data', 'gone'])).toEqual(
      refused(1, `data folder does not exist: ${join(cwd, 'gone')}`),
    );
  });
});

describe('import', () => {
  test('a second time changes nothing and reports it', async () => {
    writeFileSync(join(cwd, 'again.jsonl'), all.join(''));
    const { code, stdout } = await parlance(['import', 'again.jsonl', '--data', 'data']);
    expect(code).toBe(0);
    expect(stdout.split('\n')[2]).toBe('session two of ada already exists');
  });

  test('under another name and for another owner', async () => {
    writeFileSync(join(cwd, 'two.jsonl'), all[2] ?? '');
    const args = ['import', 'two.jsonl', '--as', 'copy', '--owner', 'eve', '--data', 'data'];
    expect((await parlance(args)).stdout).toBe('imported session copy of eve with 700 events\n');
    const store = openSqliteStore(join(cwd, 'data'));
    expect(await store.load(refOf('eve', 'copy'))).toMatchObject({ head: 700, title: 'é '.repeat(200) });
    expect((await store.read(refOf('eve', 'copy'), 699, 1))[0]?.session as string).toBe('copy');
    await store.close();
  });

  const half = `${all.join('').trimEnd().slice(0, -20)}\n`;
  const hostile = `{"type":"x","input":${'['.repeat(300_000)}${']'.repeat(300_000)}}\n`;
  const header = (lines: string | undefined) => `${lines?.split('\n')[0]}\n`;
  const cases: [name: string, args: string[], input: string, code: number, line: string][] = [
    ['nothing', [], '', 1, 'no session to import'],
    ['what is no session', [], '{"hello":1}\n', 1, 'line 1: expected a session header'],
    ['a last line that was cut off', [], half, 1, 'line 708: invalid JSON'],
    ['deep nesting', [], header(all[0]) + hostile, 1, 'line 2: the line is nested deeper than 1000'],
    ['what is not UTF-8', ['latin.jsonl'], '', 1, 'line 2: not valid UTF-8'],
    [
      'two sessions as one',
      ['--as', 'x'],
      all.join(''),
      1,
      'line 5: --as requires a single session, but this is a second one',
    ],
    [
      'a file that is not there',
      ['gone.jsonl'],
      '',
      1,
      'gone.jsonl cannot be read (ENOENT: no such file or directory)',
    ],
    ['a name that is none', ['--as', ''], '', 2, '--as must have 1 to 200 printable characters'],
    ['two files', ['a', 'b'], '', 2, 'import takes only one file'],
  ];
  for (const [name, args, input, code, line] of cases) {
    test(`${name} is refused, and nothing is written`, async () => {
      const data = mkdtempSync(join(cwd, 'case-'));
      writeFileSync(join(cwd, 'latin.jsonl'), Buffer.from(`${header(all[0])}{"type":"\xe9"}\n`, 'latin1'));
      expect(await parlance(['import', ...args, '--data', data], input)).toEqual(refused(code, line));
      const store = openSqliteStore(data);
      expect(await store.count({})).toBe(0);
      await store.close();
    });
  }

  test('refuses a line of 100 megabytes without holding it in memory', async () => {
    const path = join(cwd, 'huge.jsonl');
    const file = Bun.file(path).writer();
    file.write(header(all[0]));
    for (let piece = 0; piece < 100; piece++) file.write('x'.repeat(1_000_000));
    await file.end();
    expect(await parlance(['import', path, '--data', 'data'])).toEqual(
      refused(1, 'line 2: longer than 67108864 bytes'),
    );
    rmSync(path);
  });

  test('an error at the end of a long stream rejects all of it', async () => {
    const data = mkdtempSync(join(cwd, 'case-'));
    const input = `${all.join('')}${linesOf('ada', 'last', { events: 2 }).replace('"seq":2', '"seq":3')}`;
    expect(await parlance(['import', '--data', data], input)).toEqual(
      refused(1, 'line 711: expected event 2, got event 3'),
    );
    const store = openSqliteStore(data);
    expect(await store.count({})).toBe(0);
    await store.close();
  });
});
