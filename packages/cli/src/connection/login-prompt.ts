/** Signs in with name and password, and stores an API key for later. */
import { hostname } from 'node:os';
import { connect, type Parlance, ParlanceError } from '@parlance/sdk';
import { CommandError } from '../command.ts';
import { ask, askSecretly } from '../terminal/ask.ts';
import type { ServerAddress } from './address.ts';
import { storedLogin, storeLogin } from './logins.ts';
import { connectionError } from './open.ts';

export type Credentials = { readonly user?: string | undefined; readonly password?: string | undefined };

const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long a stored login is valid. */
const LIFETIME_MS = 90 * DAY_MS;

/** A client with a login token, which is valid for a day and not stored. Asks for missing credentials. */
async function signIn(
  { url, fetch }: ServerAddress,
  given: Credentials = {},
): Promise<{ parlance: Parlance; user: string }> {
  const user = given.user ?? (await ask(`Name at ${url}: `));
  const password = given.password ?? (await askSecretly(`Password for ${user}: `));
  const parlance = connect({ url, fetch, attempts: 1 });
  try {
    await parlance.auth.login(user, password);
  } catch (error) {
    if (error instanceof ParlanceError && error.code === 'unauthenticated')
      throw new CommandError('wrong name or password', 4, { cause: error });
    throw connectionError(error, url);
  }
  return { parlance, user };
}

/** Signs in and stores a key, which is listed under "API keys" in the console. Resolves with the key. */
export async function signInAndStore(server: ServerAddress, given: Credentials = {}): Promise<string> {
  const { parlance, user } = await signIn(server, given);
  const { url, isOwn } = server;
  const before = storedLogin(url);
  try {
    const { key, id, expiresAt } = await parlance.keys.add({
      name: `parlance login on ${hostname()}`.slice(0, 100),
      expiresAt: new Date(Date.now() + LIFETIME_MS).toISOString(),
    });
    storeLogin(url, { user, key, id, expiresAt: expiresAt ?? '', isOwn });
    // Revoke the key of an earlier login from this machine. It may belong to another user, or be revoked
    // already.
    if (before) await parlance.keys.revoke(before.id).catch(() => undefined);
    await parlance.auth.logout().catch(() => undefined);
    return key;
  } catch (error) {
    throw connectionError(error, url);
  }
}
