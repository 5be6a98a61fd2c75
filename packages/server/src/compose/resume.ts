/** Unfinished turns go on after the start. */
import type { Engine, Log } from '../core/api/index.ts';

/** Starts after the caller has the server: no turn delays the start, whatever a model requested in it. */
export async function resumeTurns(engine: Engine, log: Log): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  try {
    const resumed = await engine.recover();
    if (resumed > 0) log.info({ resumed }, 'unfinished turns resumed');
  } catch (err) {
    log.error({ err }, 'unfinished turns could not be resumed');
  }
}
