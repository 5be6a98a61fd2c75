import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runParlance } from '../testing/run-parlance.ts';

const cwd = mkdtempSync(join(tmpdir(), 'parlance-key-'));
afterAll(() => rmSync(cwd, { recursive: true }));

const key = (...args: string[]) => runParlance(['key', ...args], { cwd });
const addUser = (name: string, role: string, ...more: string[]) =>
  runParlance(['user', 'add', name, '--role', role, '--password', 'password', ...more], { cwd });

beforeAll(() => addUser('ann', 'developer'));

test('adds, lists and revokes a key, and shows it once', async () => {
  const none = await key('list');
  expect(none.stdout).toBe('there are no API keys\n');
  const added = await key('add', 'my laptop', '--role', 'user', '--dialect', 'native', '--expires', '90d');
  expect(added.code).toBe(0);
  expect(added.stdout).toMatch(/^plk_[0-9A-Za-z]{16}_[0-9A-Za-z]{43}\n$/);
  const id = added.stdout.slice(4, 20);
  expect(added.stderr).toBe(
    `created API key ${id} of ann. It is shown only once: keep it in a safe place.\n`,
  );
  const { stdout } = await key('list', '--user', 'ann');
  const [head, row, ...rest] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^ID +USER +ROLE +DIALECTS +EXPIRES +LAST USED +NAME$/);
  expect(row).toMatch(
    new RegExp(`^${id}  ann   user  native    \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  never      my laptop$`),
  );
  expect(rest).toEqual([]);
  expect(stdout).not.toContain(added.stdout.slice(21).trim());
  expect(await key('revoke', id)).toEqual({ code: 0, stdout: `revoked API key ${id}\n`, stderr: '' });
  expect((await key('list')).stdout).toBe('there are no API keys\n');
});

test('a key of an admin has the scope administration only if asked for, and the list shows it', async () => {
  await addUser('ada', 'admin', '--data', 'admins');
  await key('add', 'plain', '--data', 'admins');
  await key('add', 'scoped', '--administration', '--data', 'admins');
  const { stdout } = await key('list', '--data', 'admins');
  expect(stdout).toMatch(/ ada +admin +all .* plain\n/);
  expect(stdout).toMatch(/ ada +admin, administration +all .* scoped\n/);
});

describe('refuses', () => {
  const cases: [args: string[], code: number, line: string][] = [
    [['add'], 2, 'key add needs a name'],
    [['add', 'x', '--user', 'nobody'], 1, 'user nobody does not exist'],
    [['add', 'x', '--role', 'root'], 2, '--role must be one of admin, developer, user, not "root"'],
    [['add', 'x', '--role', 'admin'], 1, 'role: ann has the role developer, which is less than admin'],
    [['add', 'x', '--administration'], 2, 'administration: the key must have the role admin'],
    [['add', 'x', '--expires', 'soon'], 2, '--expires must be days such as 90d or a future date, not "soon"'],
    [
      ['add', 'x', '--expires', '2001-01-01'],
      2,
      '--expires must be days such as 90d or a future date, not "2001-01-01"',
    ],
    [['revoke', 'nothing'], 1, 'There is no such API key.'],
    [['revoke'], 2, 'key revoke needs an id'],
    [['revoke', 'a', 'b'], 2, 'key revoke takes only one argument'],
    [['list', 'a'], 2, 'key list takes no argument'],
    [['list', '--role', 'user'], 2, 'key list takes no --role'],
    [['rename', 'a'], 2, 'unknown command "key rename" (add, list, revoke)'],
    [['list', '--data', 'gone'], 1, `data folder does not exist: ${join(cwd, 'gone')}`],
  ];
  for (const [args, code, line] of cases)
    test(`key ${args.join(' ')}`, async () =>
      expect(await key(...args)).toEqual({ code, stdout: '', stderr: `parlance: ${line}\n` }));

  test('an unknown dialect', async () => {
    const { code, stderr } = await key('add', 'x', '--dialect', 'telex');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^parlance: dialects: no dialect telex \(/)]);
  });

  test('a key without a user if there are several', async () => {
    await addUser('ada', 'user', '--data', 'two');
    await addUser('bob', 'user', '--data', 'two');
    const { code, stderr } = await key('add', 'x', '--data', 'two');
    expect([code, stderr]).toEqual([2, 'parlance: key add needs --user: the user that the key acts as\n']);
  });
});
