/** What can be chosen for a new API key. */
import type { Role } from '@parlance/protocol';

/** In days; null: it does not expire. */
export const LIFETIMES: Readonly<Record<string, number | null>> = {
  '30 days': 30,
  '90 days': 90,
  '1 year': 365,
  never: null,
};

const DAY_MS = 24 * 60 * 60 * 1_000;

/** ISO 8601; undefined if it does not expire. */
export function expiryAfter(lifetime: string, now: number): string | undefined {
  const days = LIFETIMES[lifetime] ?? null;
  return days === null ? undefined : new Date(now + days * DAY_MS).toISOString();
}

const ROLES: readonly Role[] = ['user', 'developer', 'admin'];

/** The roles that a key of a user with this role can have, from the least to the most. */
export const rolesWithin = (role: Role): readonly Role[] => ROLES.slice(0, ROLES.indexOf(role) + 1);
