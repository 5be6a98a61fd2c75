/** Password hashing with argon2id. */
import { sequential } from './sequential.ts';

/** OWASP's first recommendation for argon2id. A login takes tens of milliseconds, off the main thread. */
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/**
 * A hash uses 19 MB and one of the few threads that also wait for the disk, so concurrent logins are queued.
 */
const inTurn = sequential();

/** Limits the CPU time that a single request can use for hashing. */
const MAX_BYTES = 1024;

/**
 * A hash of no user, created with `COST`. Verifying against it takes as long as against a real hash, so that
 * response times do not reveal which names exist.
 */
const NOBODY =
  '$argon2id$v=19$m=19456,t=2,p=1$94Pn+SnyEvpYJrIkL1g3J3utx6FYPpbTmJUzSRTs43U$eNhWwr7b6WbH0yyzOFdanJT3ste9rWGDQp0yzty9ECE';

/** Minimum for new passwords. Shorter existing passwords still work. */
const MIN_LENGTH = 8;

/** Reason why a new password is refused, or null. Never contains the password. */
export function newPasswordProblem(password: string): string | null {
  const problem = passwordProblem(password);
  if (problem !== null) return problem;
  return [...password].length < MIN_LENGTH ? `the password has fewer than ${MIN_LENGTH} characters` : null;
}

/** Reason why a password cannot match any user, or null. Never contains the password. */
export function passwordProblem(password: string): string | null {
  if (password === '') return 'the password is empty';
  if (Buffer.byteLength(password) > MAX_BYTES) return `the password is longer than ${MAX_BYTES} bytes`;
  return null;
}

/** Throws if `passwordProblem` returns a reason. */
export async function hashPassword(password: string): Promise<string> {
  const problem = passwordProblem(password);
  if (problem !== null) throw new Error(problem);
  return inTurn(() => Bun.password.hash(password, COST));
}

/** `hash` is null for an unknown user: resolves with false after the time of a real verification. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  if (passwordProblem(password) !== null) return false;
  const matches = await inTurn(() => Bun.password.verify(password, hash ?? NOBODY));
  return matches && hash !== null;
}
