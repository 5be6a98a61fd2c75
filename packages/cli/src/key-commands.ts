/** Subcommands of `parlance key` on an open store. Each resolves with its output. */
import { Fault, Role } from '@parlance/protocol';
import type { Storage as Store } from '@parlance/server/storage';
import { type ApiKeys, DIALECT_NAMES, openApiKeys } from '@parlance/server/users';
import { columns } from './columns.ts';
import { CommandError } from './command-error.ts';

export type KeyFlags = {
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
export type Output = { readonly out: string; readonly note?: string };

export type KeyCommand = {
  /** kind of argument; null if there is none */
  readonly argument: 'a name' | 'an id' | null;
  readonly flags: readonly string[];
  readonly run: (store: Store, argument: string, flags: KeyFlags) => Promise<Output>;
};

export const KEY_COMMANDS = new Map<string, KeyCommand>([
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
