/** Logins stored by `parlance login`: an API key per server, in the user's configuration folder. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { configFolder, readPrivate, writePrivate } from './private-file.ts';

export type StoredLogin = {
  readonly user: string;
  readonly key: string;
  /** public part of the key, used to revoke it */
  readonly id: string;
  /** ISO 8601 */
  readonly expiresAt: string;
  /** Whether the server has proved to be the user's own: then nobody has named its URL. */
  readonly isOwn?: boolean;
};

type Logins = Record<string, StoredLogin>;

const loginsFile = (): string => join(configFolder(), 'logins.json');

function readLogins(): Logins {
  const text = readPrivate(loginsFile());
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, login]) => isLogin(login)));
  } catch {
    // A damaged file counts as empty: the next login replaces it.
    return {};
  }
}

const isLogin = (value: unknown): value is StoredLogin =>
  typeof value === 'object' &&
  value !== null &&
  ['user', 'key', 'id', 'expiresAt'].every((name) => typeof Reflect.get(value, name) === 'string');

/** Null if there is none, or it has expired. */
export function storedLogin(url: string, now = Date.now()): StoredLogin | null {
  const logins = readLogins();
  const login = Object.hasOwn(logins, url) ? logins[url] : undefined;
  return login && Date.parse(login.expiresAt) > now ? login : null;
}

/**
 * Whether the user has signed in at this URL by naming it. It may have expired. A login at a server of the
 * user's own does not count: another program may listen at its address when it does not run.
 */
export function isNamedLogin(url: string): boolean {
  const logins = readLogins();
  return Object.hasOwn(logins, url) && logins[url]?.isOwn !== true;
}

export function storeLogin(url: string, login: StoredLogin): void {
  write({ ...readLogins(), [url]: login });
}

export function forgetLogin(url: string): void {
  const { [url]: _, ...others } = readLogins();
  write(others);
}

export const storedUrls = (): string[] => Object.keys(readLogins());

function write(logins: Logins): void {
  if (Object.keys(logins).length === 0) rmSync(loginsFile(), { force: true });
  else writePrivate(loginsFile(), `${JSON.stringify(logins, null, 2)}\n`);
}
