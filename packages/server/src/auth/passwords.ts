/** Passwords as argon2id hashes. */
import { oneAfterAnother } from './one-after-another.ts';

/** OWASP's first choice for argon2id. A login costs tens of milliseconds, off the main thread. */
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/**
 * A hash takes 19 MB and one of the few threads on which the disk is waited for, too: many logins at once must not make
 * everyone's messages wait.
 */
const inTurn = oneAfterAnother();

/** Longer ones are refused: hashing must not become a way to keep the server busy. */
const MAX_BYTES = 1024;

/**
 * A hash that belongs to no user, made with `COST`: verifying against it takes as long as against a user's, so that
 * the time of an answer does not tell which names exist.
 */
const NOBODY =
  '$argon2id$v=19$m=19456,t=2,p=1$94Pn+SnyEvpYJrIkL1g3J3utx6FYPpbTmJUzSRTs43U$eNhWwr7b6WbH0yyzOFdanJT3ste9rWGDQp0yzty9ECE';

/** Shorter ones cannot be chosen. Users who have one from before still log in. */
const LEAST_CHARACTERS = 8;

/** Why a password cannot be chosen, or null. The text never holds the password. */
export function newPasswordProblem(password: string): string | null {
  const problem = passwordProblem(password);
  if (problem !== null) return problem;
  return [...password].length < LEAST_CHARACTERS
    ? `the password has fewer than ${LEAST_CHARACTERS} characters`
    : null;
}

/** Why a password is nobody's, or null. The text never holds the password. */
export function passwordProblem(password: string): string | null {
  if (password === '') return 'the password is empty';
  if (Buffer.byteLength(password) > MAX_BYTES) return `the password is longer than ${MAX_BYTES} bytes`;
  return null;
}

/** Throws where `passwordProblem` has something to say. */
export async function hashPassword(password: string): Promise<string> {
  const problem = passwordProblem(password);
  if (problem !== null) throw new Error(problem);
  return inTurn(() => Bun.password.hash(password, COST));
}

/** `hash` is null for a user that does not exist: false, after the time a real verification takes. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  if (passwordProblem(password) !== null) return false;
  const matches = await inTurn(() => Bun.password.verify(password, hash ?? NOBODY));
  return matches && hash !== null;
}
