/** User name rules, and the users created at startup. */
import { randomBytes } from 'node:crypto';
import type { Role } from '@parlance/protocol';
import { hashPassword, verifyPassword } from './passwords.ts';
import type { UserStore } from './store.ts';

/** Principal of callers without a token. A user with this name would own their sessions. */
const RESERVED_NAME = 'local';

/** Reason why a user name is invalid, or null. */
export function nameProblem(name: string): string | null {
  if (name === RESERVED_NAME) return 'the name local is kept for callers without a token';
  if (!/^[A-Za-z0-9._@-]{1,64}$/.test(name)) return 'a name is 1 to 64 letters, digits or . _ @ -';
  return null;
}

/** Reason why the name of a key or an extension is invalid, or null. */
export function labelProblem(name: string): string | null {
  if (name.trim() === '') return 'name: a name is needed';
  if ([...name].length > LABEL_LENGTH) return `name: longer than ${LABEL_LENGTH} characters`;
  return /\p{C}/u.test(name) ? 'name: only visible characters and blanks' : null;
}

const LABEL_LENGTH = 100;

export type NewUser = { readonly name: string; readonly password: string; readonly role: Role };

/** Adds the user, or updates password and role of the existing one. Writes nothing if both are unchanged. */
export async function ensureUser(
  users: UserStore,
  configured: NewUser,
  now: number = Date.now(),
): Promise<void> {
  const problem = nameProblem(configured.name);
  if (problem !== null) throw new Error(problem);
  const found = await users.find(configured.name);
  const samePassword = found !== null && (await verifyPassword(configured.password, found.passwordHash));
  if (samePassword && found.role === configured.role) return;
  await users.put({
    name: configured.name,
    role: configured.role,
    passwordHash: samePassword ? found.passwordHash : await hashPassword(configured.password),
    createdAt: found?.createdAt ?? now,
  });
}

/**
 * Creates or updates the configured users. If there is no user at all, creates `admin` with a random password and
 * returns it: only its hash is stored, so it must be shown now. Otherwise returns null.
 */
export async function ensureUsers(users: UserStore, configured: readonly NewUser[]): Promise<string | null> {
  await Promise.all(configured.map((user) => ensureUser(users, user)));
  if (configured.length > 0 || (await users.everyone()).length > 0) return null;
  const password = randomBytes(18).toString('base64url');
  await ensureUser(users, { name: 'admin', password, role: 'admin' });
  return password;
}
