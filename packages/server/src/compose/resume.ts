/** Unfinished turns go on after the start. */
import type { Engine, Log } from '../core/api/index.ts';

/** Begins after the caller has the server: no turn, whatever a model asked for in it, delays the start. */
export async function resumeTurns(engine: Engine, log: Log): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  try {
    const resumed = await engine.recover();
    if (resumed > 0) log.info({ resumed }, 'unfinished turns resumed');
  } catch (err) {
    log.error({ err }, 'unfinished turns could not be resumed');
  }
}
