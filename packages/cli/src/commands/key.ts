/**
 * `parlance key`: manages API keys in the data folder or database. A running server sees changes immediately.
 */

import { Fault, Role } from '@parlance/protocol';
import type { Storage as Store } from '@parlance/server/storage';
import { type ApiKeys, DIALECT_NAMES, openApiKeys } from '@parlance/server/users';
import { CommandError } from '../command-error.ts';
import { openConfigured } from '../connection/storage.ts';
import { parseFlags, STORAGE_FLAGS, SWITCH, TEXT } from '../flags.ts';
import { columns } from '../terminal/columns.ts';
import { printStderr } from '../terminal/stderr.ts';

const USAGE = `Usage: parlance key COMMAND [--data FOLDER | --database URL]

  add NAME [--user USER] [--role user|developer|admin] [--dialect NAME]... [--expires 90d|DATE]
      [--administration]
  list [--user USER]
  revoke ID

A key acts as its user: send it as "Authorization: Bearer KEY", "x-api-key: KEY" or "?token=KEY".
add prints it once; only a hash of it is stored. --user can be left out if there is only one.
--role limits what the key grants, which is never more than the user's own role. --dialect
limits the key to some client protocols, and can be repeated. --administration lets a key of an
admin manage users, passwords, origins and MCP servers, which otherwise needs a login: whoever has
such a key can give themselves access that lasts after it is revoked.

A running server closes what is connected with a revoked key, within half a second.`;

function checked(word: string, given: readonly string[], flags: readonly string[]): [KeyCommand, string] {
  const command = KEY_COMMANDS.get(word);
  if (command === undefined)
    throw new CommandError(`unknown command "key ${word}" (${[...KEY_COMMANDS.keys()].join(', ')})`, 2);
  const flag = flags.find((name) => !['data', 'config', 'database', ...command.flags].includes(name));
  if (flag !== undefined) throw new CommandError(`key ${word} takes no --${flag}`, 2);
  const [argument = '', extra] = given;
  if (command.argument === null && given.length > 0)
    throw new CommandError(`key ${word} takes no argument`, 2);
  if (command.argument !== null && argument === '')
    throw new CommandError(`key ${word} needs ${command.argument}`, 2);
  if (extra !== undefined) throw new CommandError(`key ${word} takes only one argument`, 2);
  return [command, argument];
}

export async function key(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, {
    ...STORAGE_FLAGS,
    user: TEXT,
    role: TEXT,
    dialect: { ...TEXT, multiple: true },
    expires: TEXT,
    administration: SWITCH,
  });
  const [word, ...given] = positionals;
  if (values.help || word === undefined) {
    (values.help ? console.log : printStderr)(USAGE);
    return values.help ? 0 : 2;
  }
  const [command, argument] = checked(word, given, Object.keys(values));
  const store = await openConfigured(values);
  try {
    const { out, note } = await command.run(store, argument, values);
    console.log(out);
    if (note !== undefined) printStderr(note);
  } finally {
    await store.close();
  }
  return 0;
}

// Subcommands of `parlance key` on an open store. Each resolves with its output.

type KeyFlags = {
  readonly user?: string | undefined;
  readonly role?: string | undefined;
  readonly dialect?: readonly string[] | undefined;
  readonly administration?: boolean | undefined;
  readonly expires?: string | undefined;
};

const keysOf = (store: Store): ApiKeys =>
  openApiKeys({ keys: store.apiKeys, users: store, dialects: DIALECT_NAMES });

const DAY_MS = 24 * 60 * 60 * 1000;

/** Parses a number of days such as `90d`, or a date. */
function timeFrom(text: string): number {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const at = days === undefined ? Date.parse(text) : Date.now() + Number(days) * DAY_MS;
  if (/^\d{4}-|d$/.test(text) && Number.isFinite(at) && at > Date.now()) return at;
  throw new CommandError(`--expires must be days such as 90d or a future date, not "${text}"`, 2);
}

function roleFrom(text: string): Role {
  const role = Role.safeParse(text);
  if (role.success) return role.data;
  throw new CommandError(`--role must be one of ${Role.options.join(', ')}, not "${text}"`, 2);
}

/** The given user, or the only one. */
async function ownerOf(store: Store, given: string | undefined): Promise<string> {
  const everyone = await store.everyone();
  const [first, ...others] = everyone;
  if (given === undefined && first && others.length === 0) return first.name;
  if (given === undefined) throw new CommandError('key add needs --user: the user that the key acts as', 2);
  if (!everyone.some(({ name }) => name === given)) throw new CommandError(`user ${given} does not exist`, 1);
  return given;
}

/** Prints only the key, so that scripts can read it; notes for people go to stderr. */
async function add(store: Store, name: string, flags: KeyFlags): Promise<Output> {
  const { role, dialect, administration, expires } = flags;
  const settings = {
    name,
    role: role === undefined ? undefined : roleFrom(role),
    dialects: dialect,
    administration,
    expiresAt: expires === undefined ? undefined : timeFrom(expires),
  };
  const owner = await ownerOf(store, flags.user);
  const { id, key } = await keysOf(store).add(owner, settings);
  return {
    out: key,
    note: `created API key ${id} of ${owner}. It is shown only once: keep it in a safe place.`,
  };
}

const day = (at: number | null, never: string): string =>
  at === null ? never : new Date(at).toISOString().slice(0, 16).replace('T', ' ');

async function list(store: Store, _: string, { user }: KeyFlags): Promise<Output> {
  const keys = await keysOf(store).list(user);
  if (keys.length === 0) return { out: 'there are no API keys' };
  const rows = keys.map(({ id, owner, name, role, dialects, administration, expiresAt, lastUsedAt }) => [
    id,
    owner,
    administration ? `${role}, administration` : role,
    dialects?.join(',') ?? 'all',
    day(expiresAt, 'never'),
    day(lastUsedAt, 'never'),
    name,
  ]);
  return { out: columns([['ID', 'USER', 'ROLE', 'DIALECTS', 'EXPIRES', 'LAST USED', 'NAME'], ...rows]) };
}

async function revoke(store: Store, id: string): Promise<Output> {
  await keysOf(store).revoke(id);
  return { out: `revoked API key ${id}` };
}

/** `note` is for people. */
type Output = { readonly out: string; readonly note?: string };

type KeyCommand = {
  /** kind of argument; null if there is none */
  readonly argument: 'a name' | 'an id' | null;
  readonly flags: readonly string[];
  readonly run: (store: Store, argument: string, flags: KeyFlags) => Promise<Output>;
};

const KEY_COMMANDS = new Map<string, KeyCommand>([
  [
    'add',
    {
      argument: 'a name',
      flags: ['user', 'role', 'dialect', 'expires', 'administration'],
      run: refusing(add),
    },
  ],
  ['list', { argument: null, flags: ['user'], run: list }],
  ['revoke', { argument: 'an id', flags: [], run: refusing(revoke) }],
]);

/** Converts refusals to one-line errors. */
function refusing(run: KeyCommand['run']): KeyCommand['run'] {
  return async (store, argument, flags) => {
    try {
      return await run(store, argument, flags);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      throw new CommandError(thrown.message, thrown.code === 'invalid' ? 2 : 1, { cause: thrown });
    }
  };
}
