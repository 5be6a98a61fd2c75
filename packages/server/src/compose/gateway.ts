/** Opens the parts that clients reach: dialects, HTTP routes and sockets. */
import type { Hono } from 'hono';
import type { Config } from '../config/config.ts';
import type { Dialect } from '../dialects/kit/dialect.ts';
import { anonymousBudget, ByteBudget } from '../http/byte-budget.ts';
import { OpenStreams } from '../http/open-streams.ts';
import { RefusedOrigins } from '../http/refused-origins.ts';
import type { SocketTransport } from '../http/websocket.ts';
import { Readiness } from '../telemetry/readiness.ts';
import { serverContext } from './context.ts';
import { openDialect } from './dialects.ts';
import type { Backend } from './engine.ts';
import { httpRoutes } from './http.ts';
import { openTransport } from './sockets.ts';
import type { ServerState } from './state.ts';

export type Gateway = {
  readonly state: ServerState;
  readonly sockets: SocketTransport;
  readonly routes: Hono;
  readonly readiness: Readiness;
};

export type GatewayParts = { readonly backend: Backend; readonly dialects: readonly Dialect[] };

/** Does not listen yet. Registers everything it opens with `resources`. */
export async function openGateway(
  config: Config,
  { backend, dialects }: GatewayParts,
  resources: AsyncDisposableStack,
): Promise<Gateway> {
  const { log, metrics, storage, authenticator } = backend;
  const budgets = {
    anonymous: anonymousBudget(config.anonymousBytes, config.maxLoginBody),
    identified: new ByteBudget(config.bodyBytes),
  };
  metrics.gauge('unparsed_bytes', () => ({
    anonymous: budgets.anonymous.held,
    identified: budgets.identified.held,
  }));
  const state: ServerState = {
    served: [],
    listening: [],
    failed: [],
    refusedOrigins: new RefusedOrigins(),
    streams: new OpenStreams(),
  };
  const readiness = new Readiness(storage.writable);
  const sockets = openTransport(config, { log, metrics, anonymous: budgets.anonymous });
  const ctx = serverContext(config, { backend, dialects, state, sockets, budgets, readiness });
  for (const dialect of dialects) {
    const served = openDialect(dialect, config, ctx);
    state.served.push(served);
    resources.defer(() => served.inbound.close?.());
  }
  const { metricsToken } = config;
  const routes = httpRoutes(state.served, { authenticator, metrics, metricsToken, readiness }, log);
  for (const { inbound } of state.served) await inbound.resume?.();
  return { state, sockets, routes, readiness };
}
