/** State shared by all dialects of a server. */

import { Fault } from '@parlance/protocol';
import type { DialectList, McpOffers } from '@parlance/protocol/api';
import { version } from '../../package.json' with { type: 'json' };
import { openAccounts } from '../accounts/accounts.ts';
import { openApiKeys } from '../accounts/api-keys.ts';
import { heldStreams } from '../accounts/held-streams.ts';
import { openInvitations } from '../accounts/invitations.ts';
import { openPairings } from '../accounts/pairings.ts';
import { type Config, ConfigError, STORED_MODEL_SETTINGS } from '../config/config.ts';
import type { About, ServerSkills, Setup } from '../dialects/kit/administration.ts';
import { ChannelBus } from '../dialects/kit/channel-bus.ts';
import { ConnectionRegistry } from '../dialects/kit/connection-registry.ts';
import type { Dialect } from '../dialects/kit/dialect.ts';
import { socketRoutes } from '../dialects/kit/dialect.ts';
import type { ByteBudgets } from '../http/byte-budget.ts';
import { addressOf } from '../http/client-address.ts';
import type { RefusedOrigins } from '../http/refused-origins.ts';
import { bodyReader } from '../http/request-body.ts';
import { tokenOf } from '../http/request-identity.ts';
import { requestOrigin } from '../http/request-origin.ts';
import { eventStreams } from '../http/sse.ts';
import { TokenBuckets } from '../http/token-bucket.ts';
import type { SocketTransport } from '../http/websocket.ts';
import { CATALOGUE_DATE } from '../providers/catalogue.ts';
import { vendorViews } from '../providers/vendors.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Readiness } from '../telemetry/readiness.ts';
import type { McpTools } from '../tools/mcp/open.ts';
import { clientDocument } from '../tools/mcp/sign-in.ts';
import type { ServerSkillOptions } from '../tools/project/server-skills.ts';
import type { ServerContext } from './dialects.ts';
import type { Backend } from './engine.ts';
import { sealedWebhooks } from './sealed-webhooks.ts';
import type { LiveConfig } from './setup/live-config.ts';
import { modelLists, modelsOf, vendorStates } from './setup/model-lists.ts';
import type { LiveSetup } from './setup/open.ts';
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
  const { engine, authenticator, log, metrics, storage, store, mcp, custom, prices, sandbox, setup, guard } =
    backend;
  return {
    engine,
    custom,
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
      invitations: openInvitations({ invitations: store.invitations, users: store, log }),
      pairings: openPairings({ pairings: store.pairings, log }),
      prices,
      listeners: () => [
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
      mcpOffers: { ...mcp.offers, list: (user) => offersOf(mcp, user) },
      mcpSignIns: { ...mcp.signIn, clientDocument },
      skills: skillsOnDemand({
        data: config.data,
        folders: config.skillFolders,
        root: config.cwd,
        guard,
      }),
      setup: setupOf(config, setup, { mcp, refusedOrigins: state.refusedOrigins }),
    },
    readBody: bodyReader(config, { budgets, addressOf, meter: metrics }),
    addressOf,
    originOf: ({ headers }) => requestOrigin(headers, config, config.trustedProxies),
    publicOriginOf: ({ headers }) =>
      config.publicUrl ?? requestOrigin(headers, config, config.trustedProxies),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    connections: new ConnectionRegistry(),
    channels: new ChannelBus(),
    stream: heldStreams(authenticator, eventStreams(config, { log, meter: metrics, streams: state.streams })),
    decisions: store.decisions,
    preferences: store.preferences,
    webhooks: sealedWebhooks(store.webhooks, storage.secret),
    countRequest: requestCounter(config, metrics),
    refused: (limit) => metrics.add('refusals', limit),
  };
}

/** Loaded when an admin looks at them. */
function skillsOnDemand(options: ServerSkillOptions): ServerSkills {
  const skills = async () => (await import('../tools/project/server-skills.ts')).serverSkills(options);
  return {
    list: async () => (await skills()).list(),
    read: async (name) => (await skills()).read(name),
    add: async (skill) => (await skills()).add(skill),
    remove: async (name) => (await skills()).remove(name),
  };
}

async function offersOf(mcp: McpTools, user: string): Promise<McpOffers> {
  const all = await mcp.offers.list(user);
  return {
    prompts: all.flatMap(({ server, prompts }) =>
      prompts.map(({ name, title, description, arguments: given }) => ({
        ...{ server, name, description: description ?? title ?? '' },
        arguments: (given ?? []).map((one) => ({
          ...{ name: one.name, description: one.description ?? '', required: one.required === true },
        })),
      })),
    ),
    resources: all.flatMap(({ server, resources }) =>
      resources.map(({ uri, name, title, description }) => ({
        ...{ server, uri, name: title ?? name, description: description ?? '' },
      })),
    ),
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

// Public information about the server, from the configuration and the dialects.

type AboutParts = {
  readonly hasSandbox: boolean;
  readonly dialects: readonly Dialect[];
  readonly state: ServerState;
  readonly live: LiveConfig;
};

function aboutOf(config: Config, { hasSandbox, dialects, state, live }: AboutParts): About {
  const { auth, approval } = config;
  let dialectList: Promise<DialectList> | null = null;
  return {
    version,
    auth,
    approval,
    get provider() {
      return live.current.model.provider;
    },
    get model() {
      const { model } = live.current;
      return model.provider === 'offline' ? 'offline' : model.model;
    },
    vendors: vendorViews(),
    sandbox: hasSandbox,
    listeners: () => state.listening.map(({ dialect, port }) => ({ dialect, port })),
    dialects: dialects.map(({ name, listen }) => ({
      name,
      sockets: [...new Set(socketRoutes(listen).map(({ ws }) => ws))],
    })),
    dialectList() {
      dialectList ??= import('../describe/dialect-list.ts').then((built) => built.dialectList(state.served));
      return dialectList;
    },
    additions: () => Object.assign({}, ...state.served.map(({ inbound }) => inbound.about)),
    providerOf(name) {
      try {
        return live.current.modelNamed(name).provider;
      } catch (thrown) {
        if (thrown instanceof ConfigError) return null;
        throw thrown;
      }
    },
  };
}

// The setup API for the administration pages.

type OtherParts = { readonly mcp: McpTools; readonly refusedOrigins: RefusedOrigins };

function setupOf(config: Config, { live, stored }: LiveSetup, { mcp, refusedOrigins }: OtherParts): Setup {
  return {
    modelSettings: STORED_MODEL_SETTINGS,
    view: () => stored.view(),
    fixedIds: () => stored.fixedIds(),
    change: (change) => stored.change(change),
    onChange: (listener) => live.onChange(() => listener()),
    models: async (question) => modelsOf(question, live.current),
    listModels: modelLists(live),
    vendors: () => ({ date: CATALOGUE_DATE, vendors: vendorStates(live.current, config) }),
    restartMcp: (name) => mcp.restart(name),
    refusedOrigins: () =>
      refusedOrigins.list().filter(({ origin }) => !live.current.allowedOrigins.includes(origin)),
  };
}
