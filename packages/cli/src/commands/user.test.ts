import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '@parlance/server/config';
import { nameProblem, openSqliteStore } from '@parlance/server/users';
import { runParlance } from '../testing/run-parlance.ts';

const cwd = mkdtempSync(join(tmpdir(), 'parlance-user-'));
afterAll(() => rmSync(cwd, { recursive: true }));

const user = (args: string[], input?: string, env?: Record<string, string>) =>
  runParlance(['user', ...args], { cwd, input, env });
const output = (line: string) => ({ code: 0, stdout: `${line}\n`, stderr: '' });
const refused = (code: number, line: string) => ({ code, stdout: '', stderr: `parlance: ${line}\n` });

async function hashOf(name: string, data = '.parlance'): Promise<string> {
  const store = openSqliteStore(join(cwd, data));
  const found = await store.find(name);
  await store.close();
  return found?.passwordHash ?? '';
}

test('adds, lists, changes and removes a user', async () => {
  expect(await user(['add', 'ann', '--role', 'developer'], 'first-one\n')).toEqual(
    output('added user ann with role developer'),
  );
  expect(await Bun.password.verify('first-one', await hashOf('ann'))).toBe(true);
  expect((await user(['list'])).stdout).toMatch(/^ann {2}developer {2}\d{4}-\d\d-\d\dT[\d:.]+Z\n$/);
  expect(await user(['password', 'ann', '--password', 'second-one'])).toEqual(
    output('changed the password of ann; existing tokens are revoked'),
  );
  expect(await Bun.password.verify('second-one', await hashOf('ann'))).toBe(true);
  expect(await user(['role', 'ann', '--role', 'user'])).toEqual(
    output('ann now has the role user; existing tokens are revoked'),
  );
  expect(await user(['role', 'ann', '--role', 'user'])).toEqual(output('ann already has the role user'));
  expect(await user(['logout', 'ann'])).toEqual(output('logged ann out; existing tokens are revoked'));
  expect(await Bun.password.verify('second-one', await hashOf('ann'))).toBe(true);
  expect(await user(['remove', 'ann'])).toEqual(output('removed user ann'));
  expect(await user(['list'])).toEqual(output('there are no users'));
});

test('a new user has the role user; blanks in the password are kept', async () => {
  const args = ['add', 'bob', '--data', 'elsewhere'];
  expect(await user(args, '  spaced out  \nignored\n')).toEqual(output('added user bob with role user'));
  expect(await Bun.password.verify('  spaced out  ', await hashOf('bob', 'elsewhere'))).toBe(true);
});

test('the data folder also comes from PARLANCE_DATA and from the config file', async () => {
  writeFileSync(join(cwd, 'other.json'), '{"data": "from-file"}');
  await user(['add', 'cat', '--password', 'password'], '', { PARLANCE_DATA: 'from-env', HOST: '0.0.0.0' });
  await user(['add', 'dan', '--password', 'password', '--config', 'other.json']);
  expect(await hashOf('cat', 'from-env')).not.toBe('');
  expect(await hashOf('dan', 'from-file')).not.toBe('');
});

describe('refuses', () => {
  beforeAll(() => user(['add', 'eve', '--password', 'password']));
  const cases: [args: string[], code: number, line: string][] = [
    [['add', 'eve', '--password', 'y'], 1, 'user eve already exists'],
    [['remove', 'nobody'], 1, 'user nobody does not exist'],
    [['password', 'nobody', '--password', 'password'], 1, 'user nobody does not exist'],
    [['role', 'nobody', '--role', 'user'], 1, 'user nobody does not exist'],
    [['role', 'eve'], 2, 'user role needs --role'],
    [['logout', 'nobody'], 1, 'user nobody does not exist'],
    [['add', 'fay'], 1, 'no password given: write it to standard input, or use --password'],
    [['add', 'fay', '--password', ''], 2, 'the password is empty'],
    [['add', 'fay', '--password', '1234567'], 2, 'the password has fewer than 8 characters'],
    [['password', 'eve', '--password', '1234567'], 2, 'the password has fewer than 8 characters'],
    [['add', 'local', '--password', 'password'], 2, 'the name local is kept for callers without a token'],
    [['add', 'a b', '--password', 'password'], 2, 'a name is 1 to 64 letters, digits or . _ @ -'],
    [
      ['add', 'fay', '--role', 'root', '--password', 'password'],
      2,
      '--role must be one of admin, developer, user, not "root"',
    ],
    [['add'], 2, 'user add needs a name'],
    [['remove', 'a', 'b'], 2, 'user remove takes only one name'],
    [['list', 'a'], 2, 'user list takes no name'],
    [['list', '--role', 'user'], 2, 'user list takes no --role'],
    [['rename', 'eve'], 2, 'unknown command "user rename" (add, list, password, role, logout, remove)'],
    [['add', 'fay', '--colour', 'red'], 2, "Unknown option '--colour'"],
    [['list', '--config', 'gone.json'], 2, '--config names gone.json, which does not exist'],
    [['list', '--data', 'gone'], 1, `data folder does not exist: ${join(cwd, 'gone')}`],
  ];
  for (const [args, code, line] of cases)
    test(`user ${args.join(' ')}`, async () => expect(await user(args)).toEqual(refused(code, line)));
});

test('AUTH_USERS and parlance user accept the same names', () => {
  for (const name of [
    'ann',
    'a.b_c@d-e',
    'x'.repeat(64),
    'x'.repeat(65),
    'local',
    'LOCAL',
    'a b',
    'a/b',
    'é',
    '',
  ]) {
    const problem = () => loadConfig([], { HOME: cwd, AUTH_USERS: `${name}:password:user` }, cwd);
    if (nameProblem(name) === null) expect(problem).not.toThrow();
    else expect(problem).toThrow(ConfigError);
  }
});
