/**
 * `parlance user`: manages users in the data folder or database. A running server sees changes immediately.
 */

import { Role } from '@parlance/protocol';
import type { Storage } from '@parlance/server/storage';
import { hashPassword, nameProblem, newPasswordProblem } from '@parlance/server/users';
import { CommandError } from '../command-error.ts';
import { openConfigured } from '../connection/storage.ts';
import { parseFlags, STORAGE_FLAGS, TEXT } from '../flags.ts';
import { askSecretly } from '../terminal/ask.ts';
import { printStderr } from '../terminal/stderr.ts';

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

function checked(word: string, names: readonly string[], given: readonly string[]): [UserCommand, string] {
  const command = USER_COMMANDS.get(word);
  if (command === undefined)
    throw new CommandError(`unknown command "user ${word}" (${[...USER_COMMANDS.keys()].join(', ')})`, 2);
  const flag = given.find((name) => !['data', 'config', 'database', ...command.flags].includes(name));
  if (flag !== undefined) throw new CommandError(`user ${word} takes no --${flag}`, 2);
  const [name = '', extra] = names;
  if (!command.takesName && names.length > 0) throw new CommandError(`user ${word} takes no name`, 2);
  if (command.takesName && name === '') throw new CommandError(`user ${word} needs a name`, 2);
  if (extra !== undefined) throw new CommandError(`user ${word} takes only one name`, 2);
  const problem = command.takesName ? nameProblem(name) : null;
  if (problem !== null) throw new CommandError(problem, 2);
  return [command, name];
}

export async function user(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, { ...STORAGE_FLAGS, role: TEXT, password: TEXT });
  const [word, ...names] = positionals;
  if (values.help || word === undefined) {
    (values.help ? console.log : printStderr)(USAGE);
    return values.help ? 0 : 2;
  }
  const [command, name] = checked(word, names, Object.keys(values));
  const store = await openConfigured(values, command.create);
  try {
    console.log(await command.run(store, name, values));
  } finally {
    await store.close();
  }
  return 0;
}

// Subcommands of `parlance user` on an open store. Each resolves with its output.

type Users = Storage;
type Flags = { readonly role?: string; readonly password?: string };

const roleFrom = (text = 'user'): Role => {
  const role = Role.safeParse(text);
  if (role.success) return role.data;
  throw new CommandError(`--role must be one of ${Role.options.join(', ')}, not "${text}"`, 2);
};

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
  const role = roleFrom(flags.role);
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

type UserCommand = {
  readonly takesName: boolean;
  readonly flags: readonly string[];
  /** whether it may create a data folder */
  readonly create: boolean;
  readonly run: (users: Users, name: string, flags: Flags) => Promise<string>;
};

const USER_COMMANDS = new Map<string, UserCommand>([
  ['add', { takesName: true, flags: ['role', 'password'], create: true, run: add }],
  ['list', { takesName: false, flags: [], create: false, run: list }],
  ['password', { takesName: true, flags: ['password'], create: false, run: changePassword }],
  ['role', { takesName: true, flags: ['role'], create: false, run: changeRole }],
  ['logout', { takesName: true, flags: [], create: false, run: logOut }],
  ['remove', { takesName: true, flags: [], create: false, run: remove }],
]);

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
