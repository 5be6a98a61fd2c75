/**
 * `parlance user`: manages users in the data folder or database. A running server sees changes immediately.
 */

import type { Storage } from '@parlance/server/storage';
import { hashPassword, nameProblem, newPasswordProblem } from '@parlance/server/users';
import { CommandError, parseFlags, STORAGE_FLAGS, TEXT } from '../command.ts';
import { roleFrom, runStoreCommand } from '../connection/store-command.ts';
import { askSecretly } from '../terminal/ask.ts';

const USAGE = `Usage: parlance user COMMAND [--data FOLDER | --database URL]

  add NAME [--role user|developer|admin] [--password PASSWORD]
  list
  password NAME [--password PASSWORD]
  role NAME --role user|developer|admin
  logout NAME
  remove NAME

password, role, logout and remove revoke all tokens of the user, and a running server
closes their connections.

A password has at least 8 characters.

Without --password it is prompted for, or read from standard input. Other users of the
machine can see a password on the command line.`;

export const user = (argv: readonly string[]): Promise<number> =>
  runStoreCommand(
    {
      name: 'user',
      usage: USAGE,
      noun: 'name',
      problemWith: nameProblem,
      subcommands: {
        add: { argument: 'a name', flags: ['role', 'password'], create: true, run: add },
        list: { argument: null, flags: [], run: list },
        password: { argument: 'a name', flags: ['password'], run: changePassword },
        role: { argument: 'a name', flags: ['role'], run: changeRole },
        logout: { argument: 'a name', flags: [], run: logOut },
        remove: { argument: 'a name', flags: [], run: remove },
      },
    },
    parseFlags(argv, { ...STORAGE_FLAGS, role: TEXT, password: TEXT }),
  );

// Subcommands of `parlance user` on an open store. Each resolves with its output.

type Users = Storage;
type Flags = { readonly role?: string; readonly password?: string };

async function newHash(name: string, given: string | undefined): Promise<string> {
  const password = given ?? (await askPassword(name));
  const problem = newPasswordProblem(password);
  if (problem !== null) throw new CommandError(problem, 2);
  return hashPassword(password);
}

async function existing(users: Users, name: string) {
  const user = await users.find(name);
  if (user === null) throw new CommandError(`user ${name} does not exist`, 1);
  return user;
}

async function add(users: Users, name: string, flags: Flags): Promise<string> {
  const role = roleFrom(flags.role ?? 'user');
  const refuseDouble = async () => {
    if ((await users.find(name)) !== null) throw new CommandError(`user ${name} already exists`, 1);
  };
  await refuseDouble();
  const passwordHash = await newHash(name, flags.password);
  await refuseDouble();
  await users.put({ name, role, passwordHash, createdAt: Date.now() });
  return `added user ${name} with role ${role}`;
}

async function list(users: Users): Promise<string> {
  const all = await users.everyone();
  if (all.length === 0) return 'there are no users';
  const width = Math.max(...all.map(({ name }) => name.length));
  return all
    .map(
      ({ name, role, createdAt }) =>
        `${name.padEnd(width)}  ${role.padEnd(9)}  ${new Date(createdAt).toISOString()}`,
    )
    .join('\n');
}

async function changePassword(users: Users, name: string, flags: Flags): Promise<string> {
  await existing(users, name);
  const passwordHash = await newHash(name, flags.password);
  await users.put({ ...(await existing(users, name)), passwordHash });
  return `changed the password of ${name}; existing tokens are revoked`;
}

async function changeRole(users: Users, name: string, flags: Flags): Promise<string> {
  if (flags.role === undefined) throw new CommandError('user role needs --role', 2);
  const role = roleFrom(flags.role);
  const user = await existing(users, name);
  if (user.role === role) return `${name} already has the role ${role}`;
  await users.put({ ...user, role });
  return `${name} now has the role ${role}; existing tokens are revoked`;
}

/** Rewriting an unchanged user increments its token version. */
async function logOut(users: Users, name: string): Promise<string> {
  await users.put(await existing(users, name));
  return `logged ${name} out; existing tokens are revoked`;
}

async function remove(users: Users, name: string): Promise<string> {
  if (!(await users.remove(name))) throw new CommandError(`user ${name} does not exist`, 1);
  return `removed user ${name}`;
}

// Reads a new password: typed twice without echo at a terminal, or as one line of piped input.

async function readLine(): Promise<string> {
  for await (const line of console) return line;
  throw new CommandError('no password given: write it to standard input, or use --password', 1);
}

async function askPassword(name: string): Promise<string> {
  if (!process.stdin.isTTY) return readLine();
  const password = await askSecretly(`Password for ${name}: `);
  if (password !== (await askSecretly('Repeat: '))) throw new CommandError('the passwords do not match', 1);
  return password;
}
