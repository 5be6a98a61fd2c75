/** Records who drives which session, as the database has it, while the run lasts. */
import { SQL } from 'bun';
import type { Cluster } from '../../cluster/nodes.ts';
import type { History } from '../history.ts';

const INTERVAL_MS = 100;

/** Only what has changed since the last observation is recorded. */
export async function observeLeases(
  { postgres, settings }: Cluster,
  history: History,
  run: { readonly stopping: boolean },
): Promise<void> {
  const seen = new Map<string, string>();
  while (!run.stopping) {
    const url = new URL(settings.DATABASE_URL ?? '');
    // A fail-over changes it.
    url.port = String(postgres.port);
    try {
      await using sql = new SQL(url.href, { max: 1, connectionTimeout: 1 });
      while (!run.stopping && Number(url.port) === postgres.port) {
        const rows = await sql<{ session: string; epoch: string; driver: string | null }[]>`
          SELECT owner || '/' || id AS session, epoch, driver FROM sessions
          WHERE epoch > 0 ORDER BY row DESC LIMIT 200`;
        const changed = rows.filter(
          ({ session, epoch, driver }) => seen.get(session) !== `${epoch} ${driver}`,
        );
        for (const { session, epoch, driver } of changed) seen.set(session, `${epoch} ${driver}`);
        if (changed.length > 0)
          await history.run(
            { process: 'observer', operation: 'leases', arguments: {} },
            async () => changed,
            (all) => ({
              ok: { held: all.map(({ session, epoch, driver }) => [session, Number(epoch), driver]) },
            }),
          );
        await Bun.sleep(INTERVAL_MS);
      }
    } catch {
      // The database is away: there is nothing to observe.
      await Bun.sleep(INTERVAL_MS);
    }
  }
}
