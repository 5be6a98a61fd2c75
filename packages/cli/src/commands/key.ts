/**
 * `parlance key`: manages API keys in the data folder or database. A running server sees changes immediately.
 */

import { Fault } from '@parlance/protocol';
import type { Storage as Store } from '@parlance/server/storage';
import { type ApiKeys, DIALECT_NAMES, openApiKeys } from '@parlance/server/users';
import { CommandError, parseFlags, STORAGE_FLAGS, SWITCH, TEXT } from '../command.ts';
import { type Output, roleFrom, runStoreCommand } from '../connection/store-command.ts';
import { columns } from '../terminal/layout.ts';

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

export const key = (argv: readonly string[]): Promise<number> =>
  runStoreCommand(
    {
      name: 'key',
      usage: USAGE,
      noun: 'argument',
      subcommands: {
        add: {
          argument: 'a name',
          flags: ['user', 'role', 'dialect', 'expires', 'administration'],
          run: refusing(add),
        },
        list: { argument: null, flags: ['user'], run: list },
        revoke: { argument: 'an id', flags: [], run: refusing(revoke) },
      },
    },
    parseFlags(argv, {
      ...STORAGE_FLAGS,
      user: TEXT,
      role: TEXT,
      dialect: { ...TEXT, multiple: true },
      expires: TEXT,
      administration: SWITCH,
    }),
  );

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
  if (keys.length === 0) return 'there are no API keys';
  const rows = keys.map(({ id, owner, name, role, dialects, administration, expiresAt, lastUsedAt }) => [
    id,
    owner,
    administration ? `${role}, administration` : role,
    dialects?.join(',') ?? 'all',
    day(expiresAt, 'never'),
    day(lastUsedAt, 'never'),
    name,
  ]);
  return columns([['ID', 'USER', 'ROLE', 'DIALECTS', 'EXPIRES', 'LAST USED', 'NAME'], ...rows]);
}

async function revoke(store: Store, id: string): Promise<Output> {
  await keysOf(store).revoke(id);
  return `revoked API key ${id}`;
}

type Run = (store: Store, argument: string, flags: KeyFlags) => Promise<Output>;

/** Converts refusals to one-line errors. */
function refusing(run: Run): Run {
  return async (store, argument, flags) => {
    try {
      return await run(store, argument, flags);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      throw new CommandError(thrown.message, thrown.code === 'invalid' ? 2 : 1, { cause: thrown });
    }
  };
}
