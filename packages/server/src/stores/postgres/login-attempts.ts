/** Counts login attempts across all nodes. */
import {
  LOGIN_WINDOW_SECONDS,
  type LoginAttempts,
  type LoginLimits,
  OVERALL_FACTOR,
} from '../../accounts/store.ts';
import { storable } from '../shared/text.ts';
import type { Statements } from './database.ts';

/** How long an address counts as known for a name after a login. */
const KNOWN_DAYS = 90;
const PRUNE_MS = 60_000;

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts.map(storable));
const keysOf = (name: string, address: string) => ({
  pair: keyOf('pair', name, address),
  name: keyOf('name', name),
  known: keyOf('known', name, address),
});

/**
 * $1 keys, $2 their limits, $3 key that is not counted if $4 is known, $5 window. Keys are locked in order.
 */
const COUNT = `
WITH wanted AS (
  SELECT key, most FROM unnest($1::text[], $2::int[]) AS wanted (key, most)
  WHERE key <> $3 OR NOT EXISTS (SELECT 1 FROM login_attempts WHERE login_attempts.key = $4 AND until > now())
), counted AS (
  INSERT INTO login_attempts (key, points, until)
  SELECT key, 1, now() + $5 * INTERVAL '1 second' FROM wanted ORDER BY key
  ON CONFLICT (key) DO UPDATE SET
    points = CASE WHEN login_attempts.until > now() THEN login_attempts.points + 1 ELSE 1 END,
    until = CASE WHEN login_attempts.until > now() THEN login_attempts.until ELSE excluded.until END
  RETURNING key, points, until
)
SELECT counted.key, points > most AS refused, (extract(epoch FROM until - now()) * 1000)::float8 AS left_ms
FROM counted JOIN wanted ON wanted.key = counted.key`;

export function prepareLoginAttempts(database: Statements) {
  let pruneAt = 0;

  async function prune(): Promise<void> {
    if (performance.now() < pruneAt) return;
    pruneAt = performance.now() + PRUNE_MS;
    await database.query('DELETE FROM login_attempts WHERE until < now()');
  }

  return ({ attempts, windowSeconds = LOGIN_WINDOW_SECONDS }: LoginLimits): LoginAttempts => ({
    async begin(name, address) {
      await prune();
      const keys = keysOf(name ?? '', address);
      const overall = attempts * OVERALL_FACTOR;
      const limits = new Map([[keyOf('address', address), overall]]);
      if (name !== null) limits.set(keys.pair, attempts).set(keys.name, overall);
      const counted = await database.query(COUNT, [
        [...limits.keys()],
        [...limits.values()],
        keys.name,
        keys.known,
        windowSeconds,
      ]);
      const refused = counted.filter((row) => row.refused === true);
      if (refused.length === 0) return { ok: true };
      // A refused attempt reveals nothing about the password, so it does not count.
      await database.query('UPDATE login_attempts SET points = points - 1 WHERE key = ANY($1::text[])', [
        counted.map(({ key }) => key),
      ]);
      return {
        ok: false,
        retryAfterMs: Math.max(1, ...refused.map(({ left_ms }) => Math.ceil(Number(left_ms)))),
      };
    },

    async succeeded(name, address) {
      const { pair, name: ofName, known } = keysOf(name, address);
      // Sequentially: a statement that locks several keys must lock them in order.
      await database.query('DELETE FROM login_attempts WHERE key = ANY($1::text[])', [[ofName, pair]]);
      await database.query('UPDATE login_attempts SET points = points - 1 WHERE key = $1 AND points > 0', [
        keyOf('address', address),
      ]);
      await database.query(
        `INSERT INTO login_attempts (key, points, until) VALUES ($1, 0, now() + $2 * INTERVAL '1 day')
         ON CONFLICT (key) DO UPDATE SET until = excluded.until`,
        [known, KNOWN_DAYS],
      );
    },
  });
}
