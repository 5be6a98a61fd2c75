/**
 * The naive design: clients insert a row into a table, workers poll for rows, clients poll for the result.
 */
import { SQL } from 'bun';
import { owned } from '../contestants/contestant.ts';
import { sleep } from '../measure/clock.ts';
import { startUpstream } from '../measure/upstream-process.ts';

const CLIENTS_PER_WORKER = 16;
/** Polling interval of workers and clients, in milliseconds. */
export const POLL_MS = 50;

export async function pollingTurns(
  database: string,
  { workers, milliseconds }: { readonly workers: number; readonly milliseconds: number },
): Promise<number> {
  await using sql = new SQL(database, { max: 8 });
  await sql`CREATE TABLE runs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, status text, input text, output text)`;
  await sql`CREATE INDEX ON runs (id) WHERE status = 'queued'`;
  const upstream = await startUpstream(3, 1);
  const stops = Array.from({ length: workers }, () =>
    owned(
      Bun.spawn([process.execPath, `${import.meta.dir}/cluster-polling-worker.ts`, database, upstream.url], {
        stdout: 'ignore',
        stderr: 'inherit',
      }),
    ),
  );
  const turn = async (): Promise<void> => {
    const [run] =
      await sql`INSERT INTO runs (status, input) VALUES ('queued', 'Tell me something.') RETURNING id`;
    for (;;) {
      await sleep(POLL_MS);
      const [found] = await sql`SELECT status FROM runs WHERE id = ${run.id}`;
      if (found.status === 'done') return;
    }
  };
  try {
    await turn();
    let turns = 0;
    const began = performance.now();
    const client = async () => {
      for (; performance.now() - began < milliseconds; turns++) await turn();
    };
    await Promise.all(Array.from({ length: workers * CLIENTS_PER_WORKER }, client));
    return Math.round(turns / ((performance.now() - began) / 1_000));
  } finally {
    await Promise.all(stops.map((stop) => stop()));
    await upstream.stop();
  }
}
