/** Composition root: `compose/` names the concrete adapters. */
import { ensureUsers } from './accounts/users.ts';
import { type EmbeddedServer, runEmbedded } from './compose/embedded.ts';
import { openBackend } from './compose/engine.ts';
import { openGateway } from './compose/gateway.ts';
import { openListeners } from './compose/listeners.ts';
import { type RunningServer, runServer } from './compose/running-server.ts';
import { type Config, checkChannels } from './config/config.ts';
import { DIALECTS } from './dialects/index.ts';
import type { Dialect } from './dialects/kit/dialect.ts';

export type { EmbeddedPeer, EmbeddedServer, EmbeddedSocket } from './compose/embedded.ts';
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
  checkChannels(config);
  await using resources = new AsyncDisposableStack();
  const backend = await openBackend(config, dialects, resources);
  const gateway = await openGateway(config, { backend, dialects }, resources);
  const { store, oneAtATime } = backend.storage;
  const applyUsers = () => oneAtATime(() => ensureUsers(store, config.authUsers));
  // Before the ports answer: until then former passwords would count, and new ones would not.
  if (config.authUsers.length > 0) await applyUsers();
  openListeners(config, { backend, gateway }, resources);
  // Only after the ports are bound: a failed start must not create a user whose password nobody has seen.
  const adminPassword = config.authUsers.length > 0 ? null : await applyUsers();
  return runServer(config, { backend, gateway, adminPassword }, resources.move());
}

/**
 * The server inside this process, for its own user: no port, no accounts, and every caller is `local`. Rejects as
 * `startServer`.
 *
 * @example
 * const server = await embedServer(loadConfig([], process.env, process.cwd()));
 * const response = await server.fetch('/v1/sessions');
 */
export async function embedServer(
  given: Config,
  dialects: readonly Dialect[] = DIALECTS,
): Promise<EmbeddedServer> {
  const config: Config = { ...given, auth: 'open', listeners: [], anyFolder: true };
  await using resources = new AsyncDisposableStack();
  const backend = await openBackend(config, dialects, resources);
  const gateway = await openGateway(config, { backend, dialects }, resources);
  return runEmbedded(config, { backend, gateway }, resources.move());
}
