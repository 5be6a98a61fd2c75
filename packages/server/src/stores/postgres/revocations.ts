import { KEPT_AFTER_EXPIRY_MS, type Revocation } from '../../core/ports/revocations.ts';
import { storable } from '../shared/text.ts';
import type { Statements } from './database.ts';

export const prepareRevocations = (database: Statements) => ({
  /**
   * Increments `changes` in the same statement, which other nodes poll. Prunes by the clock of the database:
   * that of a node may be wrong.
   */
  async add(id: string, until: number): Promise<void> {
    await database.query(
      `WITH pruned AS (
           DELETE FROM revocations WHERE until < (extract(epoch FROM now()) * 1000)::bigint - $3::bigint AND id <> $1),
         changed AS (UPDATE cluster SET changes = changes + 1)
       INSERT INTO revocations (id, until) VALUES ($1, $2)
       ON CONFLICT (id) DO UPDATE SET until = greatest(revocations.until, excluded.until)`,
      [storable(id), Math.trunc(until), KEPT_AFTER_EXPIRY_MS],
    );
  },
  async list(): Promise<Revocation[]> {
    const rows = await database.query('SELECT id, until FROM revocations WHERE until >= $1', [Date.now()]);
    return rows.map(({ id, until }) => ({ id: String(id), until: Number(until) }));
  },
  async has(id: string): Promise<boolean> {
    const found = await database.query('SELECT 1 AS one FROM revocations WHERE id = $1', [storable(id)]);
    return found.length > 0;
  },
});
