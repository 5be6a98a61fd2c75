/** Subcommands of `parlance user` on an open store. Each resolves with its output. */
import { Role } from '@parlance/protocol';
import type { Storage } from '@parlance/server/storage';
import { hashPassword, newPasswordProblem } from '@parlance/server/users';
import { askPassword } from './ask-password.ts';
import { CommandError } from './command-error.ts';

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

export type UserCommand = {
  readonly takesName: boolean;
  readonly flags: readonly string[];
  /** whether it may create a data folder */
  readonly create: boolean;
  readonly run: (users: Users, name: string, flags: Flags) => Promise<string>;
};

export const USER_COMMANDS = new Map<string, UserCommand>([
  ['add', { takesName: true, flags: ['role', 'password'], create: true, run: add }],
  ['list', { takesName: false, flags: [], create: false, run: list }],
  ['password', { takesName: true, flags: ['password'], create: false, run: changePassword }],
  ['role', { takesName: true, flags: ['role'], create: false, run: changeRole }],
  ['logout', { takesName: true, flags: [], create: false, run: logOut }],
  ['remove', { takesName: true, flags: [], create: false, run: remove }],
]);
