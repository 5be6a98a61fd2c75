/** State shared by all dialects of a server. */
import { Fault } from '@parlance/protocol';
import { openAccounts } from '../auth/accounts.ts';
import { openApiKeys } from '../auth/api-keys.ts';
import { heldStreams } from '../auth/held-streams.ts';
import { openPairings } from '../auth/pairings.ts';
import type { Config } from '../config/config.ts';
import { ChannelBus } from '../dialects/shared/channel-bus.ts';
import { ConnectionRegistry } from '../dialects/shared/connection-registry.ts';
import type { Dialect } from '../dialects/shared/dialect.ts';
import type { ByteBudgets } from '../http/byte-budget.ts';
import { addressOf } from '../http/client-address.ts';
import { bodyReader } from '../http/request-body.ts';
import { tokenOf } from '../http/request-identity.ts';
import { requestOrigin } from '../http/request-origin.ts';
import { eventStreams } from '../http/sse.ts';
import { TokenBuckets } from '../http/token-bucket.ts';
import type { SocketTransport } from '../http/websocket.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Readiness } from '../telemetry/readiness.ts';
import { aboutOf } from './about.ts';
import type { ServerContext } from './dialects.ts';
import type { Backend } from './engine.ts';
import { openPrices } from './prices.ts';
import { setupOf } from './setup/setup.ts';
import type { ServerState } from './state.ts';

export type ContextParts = {
  readonly backend: Backend;
  readonly dialects: readonly Dialect[];
  readonly state: ServerState;
  readonly sockets: SocketTransport;
  readonly budgets: ByteBudgets;
  readonly readiness: Readiness;
};

export function serverContext(config: Config, parts: ContextParts): ServerContext {
  const { backend, dialects, state, sockets, budgets, readiness } = parts;
  const { engine, authenticator, log, metrics, store, mcp, sandbox, setup } = backend;
  return {
    engine,
    authenticator,
    log,
    about: aboutOf(config, { hasSandbox: sandbox !== null, dialects, state, live: setup.live }),
    figures: metrics.figures,
    problem: () => readiness.problem(),
    administration: {
      accounts: openAccounts({
        users: store,
        authenticator,
        named: config.authUsers.map(({ name }) => name),
      }),
      apiKeys: openApiKeys({
        keys: store.apiKeys,
        users: store,
        dialects: dialects.map(({ name }) => name),
      }),
      pairings: openPairings({ pairings: store.pairings, log }),
      prices: openPrices(store.settings),
      doors: () => [
        ...state.listening.map(({ dialect, port, number }) => ({
          address: config.host,
          dialect,
          port,
          sockets: sockets.at(number),
          problem: null,
        })),
        ...state.failed.map((failed) => ({ address: config.host, ...failed, sockets: {} })),
      ],
      nodes: async () =>
        (await store.nodes()).map((node) => ({ ...node, here: node.id === store.leases.node })),
      mcpServers: mcp.servers,
      setup: setupOf(setup, { mcp, refusedOrigins: state.refusedOrigins }),
    },
    readBody: bodyReader(config, { budgets, addressOf, meter: metrics }),
    addressOf,
    originOf: ({ headers }) => requestOrigin(headers, config, config.trustedProxies),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    connections: new ConnectionRegistry(),
    channels: new ChannelBus(),
    stream: heldStreams(authenticator, eventStreams(config, { log, meter: metrics, streams: state.streams })),
    preferences: store.preferences,
    countRequest: requestCounter(config, metrics),
    refused: (limit) => metrics.add('refusals', limit),
  };
}

/** Distinguishes callers by token, or by address without one. */
function requestCounter(config: Config, metrics: Metrics) {
  const callers = new TokenBuckets(config.apiRequestsPerMinute);
  return (request: Request): void => {
    const caller = tokenOf(request) ?? addressOf(request);
    const retryAfterMs = callers.take(Bun.hash(caller).toString(36), Date.now());
    if (retryAfterMs === 0) return;
    metrics.add('refusals', 'apiRequestsPerMinute');
    throw new Fault('limited', 'Too many requests.', { retryAfterMs });
  };
}
