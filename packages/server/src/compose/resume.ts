/** Resumes unfinished turns after startup. */
import type { Engine, Log } from '../core/index.ts';

/** Runs after the server has started, so that no turn can delay the startup. */
export async function resumeTurns(engine: Engine, log: Log): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  try {
    const resumed = await engine.recover();
    if (resumed > 0) log.info({ resumed }, 'resumed unfinished turns');
  } catch (err) {
    log.error({ err }, 'failed to resume unfinished turns');
  }
}
