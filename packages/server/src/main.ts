/** The composition root: `compose/` names the concrete adapters. */
import { ensureUsers } from './auth/users.ts';
import { openBackend } from './compose/engine.ts';
import { openFront } from './compose/front.ts';
import { type RunningServer, runServer } from './compose/running-server.ts';
import type { Config } from './config/config.ts';
import { DIALECTS } from './dialects/index.ts';
import type { Dialect } from './dialects/shared/dialect.ts';

export type { RunningServer } from './compose/running-server.ts';

/**
 * Serves when the promise resolves. Rejects if the configuration cannot be served; nothing stays open then.
 *
 * @example
 * const server = await startServer(loadConfig([], process.env, process.cwd()));
 */
export async function startServer(
  config: Config,
  dialects: readonly Dialect[] = DIALECTS,
): Promise<RunningServer> {
  await using resources = new AsyncDisposableStack();
  const backend = await openBackend(config, dialects, resources);
  const front = await openFront(config, { backend, dialects }, resources);
  // After the ports are ours: a start that fails must not create a user whose password nobody was told.
  const { store, oneAtATime } = backend.storage;
  const adminPassword = await oneAtATime(() => ensureUsers(store, config.authUsers));
  return runServer(config, { backend, front, adminPassword }, resources.move());
}
