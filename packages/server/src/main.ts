/** The composition root: `compose/` names the concrete adapters. */
import { ensureUsers } from './auth/users.ts';
import { openBackend } from './compose/engine.ts';
import { openFront } from './compose/front.ts';
import { resumeTurns } from './compose/resume.ts';
import type { Config } from './config/config.ts';
import { DIALECTS } from './dialects/index.ts';
import type { Dialect } from './dialects/shared/dialect.ts';

export type RunningServer = {
  readonly host: string;
  readonly port: number;
  readonly doors: readonly { readonly dialect: string; readonly port: number }[];
  /** the password of the user `admin`, if this start created it */
  readonly adminPassword: string | null;
  /** Drains: no new turns, a grace period for running ones, clients are told, everything is closed. */
  stop(): Promise<void>;
};

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
  const backend = await openBackend(config, resources);
  const { store, engine, log } = backend;
  const { listening, sockets, readiness } = await openFront(config, { backend, dialects }, resources);
  // After the ports are ours: a start that fails must not create a user whose password nobody was told.
  const adminPassword = await ensureUsers(store, config.authUsers);
  readiness.serving();
  const resuming = resumeTurns(engine, log);
  const opened = resources.move();
  const [{ port } = { port: config.port }, ...doors] = listening;
  async function stop(): Promise<void> {
    readiness.draining();
    await engine.drain(config.grace);
    await resuming;
    sockets.drain();
    await opened.disposeAsync();
  }
  return { host: config.host, port, doors, adminPassword, stop };
}
