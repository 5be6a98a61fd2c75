import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type PostgresEngine, startPostgres } from '../../testing/engines/postgres.ts';
import { recordOf, refOf, seqsOf, textEvents } from '../../testing/stores/contract/samples.ts';
import { noPostgres, openNode } from '../../testing/stores/postgres.ts';
import { until } from '../../testing/until.ts';

const ONE = refOf('ada', 'one');

describe.skipIf(noPostgres)('with a synchronous standby', () => {
  let primary: PostgresEngine;
  let standby: PostgresEngine;
  beforeAll(async () => {
    primary = await startPostgres();
    standby = await startPostgres([], { standbyOf: primary });
    await primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.execute('SELECT pg_reload_conf()');
    const isSynchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
    await until(async () => (await primary.execute(isSynchronous)).length > 0);
  });
  afterAll(() => Promise.all([primary?.stop(), standby?.stop()]));

  const WAITS = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%WITH write AS%'";

  test('an append that only the primary has is not acknowledged', async () => {
    const store = await openNode(await primary.createDatabase());
    await store.append(0, textEvents(ONE, 0, 1), recordOf(ONE, 1));
    standby.pause();
    const outcome = store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2)).catch((fault) => fault);
    await until(async () => (await primary.execute(`SELECT 1 ${WAITS}`)).length > 0);
    // As in a fast shutdown: the primary commits, and the response is lost. The second attempt finds the event,
    // and waits for the standby as well, because it locks the row of the session.
    await primary.execute(`SELECT pg_terminate_backend(pid) ${WAITS}`);
    expect(await outcome).toMatchObject({ code: 'storage_unavailable' });
    standby.resume();
    expect(seqsOf(await store.read(ONE, 0, 10))).toEqual([1, 2]);
    await store.close();
  });
});
