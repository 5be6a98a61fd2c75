/** The composition root: the only file that names concrete adapters. */
import { mkdirSync, realpathSync } from 'node:fs';
import { type ConnectionId, Fault } from '@parlance/protocol';
import { Hono } from 'hono';
import { openAccounts } from './auth/accounts.ts';
import { openAuthenticator } from './auth/authenticator.ts';
import { heldStreams, tokenRevocation } from './auth/held-streams.ts';
import { newPasswordProblem } from './auth/passwords.ts';
import { loadSecret } from './auth/secret.ts';
import { ensureUsers } from './auth/users.ts';
import { openMemoryBus } from './buses/memory/bus.ts';
import { aboutOf } from './compose/about.ts';
import { type OpenChannels, openChannels } from './compose/channels.ts';
import { agentCatalog, DEFAULT_INSTRUCTIONS } from './compose/domains.ts';
import { listenOrExplain } from './compose/listen.ts';
import { openProvider, providersByModel } from './compose/model-provider.ts';
import type { Config } from './config/config.ts';
import { register } from './config/data-folder.ts';
import { INSTALLATION, isInstallation, WORKSPACE } from './config/installation.ts';
import { CONSOLE_FOLDER } from './console-folder.ts';
import { withoutStalePages } from './copilot/stale-pages.ts';
import { ClientToolBroker, createEngine, type Engine, type Log } from './core/api/index.ts';
import type { Tool } from './core/ports/tool.ts';
import { watchChannels } from './dialects/copilot/channel-watch.ts';
import { DIALECTS } from './dialects/index.ts';
import { ConnectionRegistry } from './dialects/shared/connection-registry.ts';
import type { DialectContext, DialectName } from './dialects/shared/dialect.ts';
import { routeOf } from './dialects/shared/routes.ts';
import { SubscriptionHub } from './dialects/shared/subscription-hub.ts';
import { anonymousBudget, ByteBudget } from './http/byte-budget.ts';
import { clientAddress } from './http/client-address.ts';
import type { Connection, Socket } from './http/connection.ts';
import { consoleRoutes } from './http/console.ts';
import { crossOrigin } from './http/cross-origin.ts';
import type { Opening } from './http/dialect-socket.ts';
import { plainRefusal } from './http/listener.ts';
import { originPolicy } from './http/origin-policy.ts';
import { bodyReader } from './http/request-body.ts';
import { requestIdOf } from './http/request-id.ts';
import { identify, tokenOf } from './http/request-identity.ts';
import { eventStreams } from './http/sse.ts';
import { TokenBuckets } from './http/token-bucket.ts';
import { socketTransport } from './http/websocket.ts';
import { openMemoryLeases } from './stores/memory/leases.ts';
import { metered } from './stores/shared/metered.ts';
import { openSqliteStore } from './stores/sqlite/open.ts';
import { openLog } from './telemetry/log.ts';
import { openMetrics } from './telemetry/metrics.ts';
import { Readiness } from './telemetry/readiness.ts';
import { type Operations, operationRoutes } from './telemetry/routes.ts';
import type { Traces } from './telemetry/traces.ts';
import { openGuard } from './tools/guard.ts';
import { builtInTools } from './tools/index.ts';
import { type McpTools, openMcp } from './tools/mcp/open.ts';
import { findSandbox } from './tools/shell/sandbox.ts';

export type RunningServer = {
  readonly host: string;
  readonly port: number;
  readonly doors: readonly { readonly dialect: string; readonly port: number }[];
  /** the password of the user `admin`, where this start made it */
  readonly adminPassword: string | null;
  /** Drains: no new turns, a grace period for running ones, clients are told, everything is closed. */
  stop(): Promise<void>;
};

/**
 * Serves when the promise resolves; what can be wrong with the configuration has been said by then. Where it rejects,
 * nothing stays open.
 */
export async function startServer(config: Config): Promise<RunningServer> {
  await using resources = new AsyncDisposableStack();
  const log = openLog(config.logLevel);
  for (const file of config.ignoredFiles)
    log.warn({ file }, 'configuration file ignored: name it with --config, or put it into the data folder');
  mkdirSync(config.cwd, { recursive: true });
  if (isInstallation(realpathSync(config.cwd)))
    log.warn({ cwd: config.cwd }, "working directory is part of the server's code: tools cannot change it");
  const metrics = openMetrics();
  const traces = await tracesOf(config, log);
  resources.defer(() => traces?.close());
  const store = openSqliteStore(config.data, { exclusive: true });
  resources.defer(() => store.close());
  const { data, registration } = config;
  if (registration && !register(data, registration.registry) && !registration.isNamed)
    log.warn({ folder: data }, 'data folder not registered: name it with --data at the next start');
  const [sandbox, secret] = await Promise.all([findSandbox(), loadSecret(config.data, config.authSecret)]);
  if (config.approval === 'full-auto' && !sandbox) {
    throw new Error(
      'approval mode full-auto needs a sandbox (bubblewrap), and there is none on this machine',
    );
  }
  warnOfShortPasswords(config, log);
  const authenticator = openAuthenticator({
    users: store,
    revocations: store.revocations,
    secret,
    open: config.auth === 'open',
    limits: { attempts: config.loginAttempts },
    log,
    meter: metrics,
  });
  resources.defer(() => authenticator.close());
  const addresses = new WeakMap<Request, string>();
  const addressOf = (request: Request): string => addresses.get(request) ?? 'unknown';

  const clients = new ClientToolBroker();
  const catalog = agentCatalog(config.agents, config.domains);
  const providerFor = providersByModel(config, log);
  for (const { model } of catalog.agents) if (model !== undefined) providerFor(model);
  const agents = () => catalog.listed.agents.map((agent) => agent.id);
  const web = { key: config.serperKey, baseUrl: config.serperBaseUrl };
  const guard = openGuard({
    hide: [config.data, ...(config.configFile === null ? [] : [config.configFile])],
    readOnly: [INSTALLATION],
    writable: [WORKSPACE],
  });
  resources.defer(() => guard.close());
  const builtIn = builtInTools({ clients, sandbox, agents, guard, web });
  const mcp = await openMcp(config.mcpServers, { log });
  resources.defer(() => mcp.close());
  const tools = toolsOf(builtIn, mcp);
  const engine = createEngine({
    store: metered(store, metrics),
    bus: openMemoryBus(log),
    leases: openMemoryLeases(),
    meter: metrics,
    tracer: traces?.tracer,
    clients,
    catalog,
    provider: openProvider(config.model, config, log),
    providerFor,
    rules: config.rules,
    tools,
    instructions: config.instructions ?? DEFAULT_INSTRUCTIONS,
    root: config.cwd,
    approvalMode: config.approval,
    context: { strategy: config.contextStrategy, threshold: config.contextThreshold },
    maxSteps: config.maxSteps,
    parallelCalls: config.parallelCalls,
    trim: withoutStalePages,
    allowsFullAuto: sandbox !== null,
    turnsAtOnce: config.turnsAtOnce,
    limits: config,
    now: Date.now,
    newId: () => crypto.randomUUID(),
    log,
  });

  const budgets = {
    anonymous: anonymousBudget(config.anonymousBytes, config.maxLoginBody),
    identified: new ByteBudget(config.bodyBytes),
  };
  metrics.gauge('unparsed_bytes', () => ({
    anonymous: budgets.anonymous.held,
    identified: budgets.identified.held,
  }));
  const callers = new TokenBuckets(config.apiRequestsPerMinute);
  const channels = openChannels(config, log);
  resources.defer(() => channels.close());
  const listening: RunningServer['doors'][number][] = [];
  const connections = new ConnectionRegistry();
  const hubs = new Map(
    DIALECTS.map((d) => [d.name, new SubscriptionHub(engine, d.projection, log, d.name, connections)]),
  );
  const channelWatch = watchChannels({ engine, push: channels.push, log }, hubOf(hubs, 'copilot'));
  resources.defer(() => channelWatch.stop());
  const ctx: DialectContext = {
    engine,
    authenticator,
    log,
    about: aboutOf(config, sandbox !== null, () => listening),
    figures: metrics.figures,
    problem: () => readiness.problem(),
    administration: {
      accounts: openAccounts({
        users: store,
        authenticator,
        named: config.authUsers.map(({ name }) => name),
      }),
      doors: () =>
        listening.map((listener, index) => ({
          address: config.host,
          ...listener,
          sockets: sockets.at(index),
        })),
      mcpServers: mcp.servers,
    },
    readBody: bodyReader(config, { budgets, addressOf, meter: metrics }),
    addressOf,
    push: channels.push,
    follow: channelWatch.follow,
    now: Date.now,
    newId: () => crypto.randomUUID(),
    connections,
    hubOf: (dialect) => hubOf(hubs, dialect),
    stream: heldStreams(authenticator, eventStreams(config, log, metrics)),
    preferences: store.preferences,
    requestsPerMinute: config.requestsPerMinute,
    asked: (request) => {
      const caller = tokenOf(request) ?? addresses.get(request) ?? '';
      const retryAfterMs = callers.take(Bun.hash(caller).toString(36), Date.now());
      if (retryAfterMs === 0) return;
      metrics.add('refusals', 'apiRequestsPerMinute');
      throw new Fault('limited', 'Too many requests.', { retryAfterMs });
    },
    refused: (limit) => metrics.add('refusals', limit),
    maxDom: config.maxDom,
    toolOrigins: config.allowedToolOrigins,
  };
  const speak = (name: DialectName, socket: Socket): Connection => {
    const dialect = DIALECTS.find((d) => d.name === name);
    if (!dialect?.open) throw new Fault('not_found', `There is no dialect ${name}.`);
    socket.speaks(name);
    return dialect.open(socket, ctx, hubOf(hubs, name));
  };

  const speaking = (dialect: DialectName) => (socket: Socket) => speak(dialect, socket);

  /** No function is made in here that lives on: it would keep the request for as long as the socket is open. */
  async function opening(
    request: Request,
    at: { readonly listener: number; readonly dialect: DialectName | null },
    peer: string | undefined,
  ): Promise<Opening | null> {
    const { listener, dialect } = at;
    const address = clientAddress(request.headers, peer, config.trustedProxies);
    const url = new URL(request.url);
    const id = crypto.randomUUID() as string as ConnectionId;
    const channel = dialect === null || dialect === 'pusher' ? channels.accept(url) : null;
    // Whoever opens one is nobody yet: private channels are granted one by one, public ones need no token.
    if (channel)
      return {
        ...{ id, principal: null, session: null, listener, address, accept: channel },
        ...{ unknown: config.auth === 'required', mayStay: true },
      };
    if (dialect === 'pusher') return null;
    const token = tokenOf(request);
    const accept = dialect ? speaking(dialect) : routeOf(url.pathname, token !== null, speak);
    if (!accept) return null;
    const session = url.searchParams.get('session');
    try {
      const principal = await identify(authenticator, token);
      const onTokenRevoked = token === null ? undefined : tokenRevocation(authenticator, token);
      return {
        id,
        principal,
        session,
        listener,
        address,
        unknown: principal === null,
        onTokenRevoked,
        accept,
      };
    } catch (thrown) {
      const ids = { request: requestIdOf(request), connection: id };
      log.info({ ...ids, reason: String(thrown) }, 'a socket came with a bad token');
      return {
        id,
        principal: null,
        session,
        listener,
        address,
        accept: { code: 1008, reason: 'Invalid token' },
      };
    }
  }

  const sockets = socketTransport(
    {
      ...config,
      frameBytes: config.maxFrame,
      firstFrameBytes: Math.min(config.maxFirstFrame, config.maxFrame),
      idleSeconds: 120,
      unsentBytes: 16 * 1024 * 1024,
      heldCharacters: config.heldCharacters,
    },
    { log, meter: metrics, anonymous: budgets.anonymous },
  );
  const readiness = new Readiness(() => store.writable());
  const { metricsToken } = config;
  const routes = app(ctx, channels, { authenticator, metrics, metricsToken, readiness });
  const admit = originPolicy({ host: config.host, allowedOrigins: config.allowedOrigins }, log);
  const open = (port: number, dialect: DialectName | null, listener: number) => {
    const server = listenOrExplain(dialect, {
      hostname: config.host,
      port,
      sockets,
      admit,
      refusal,
      log,
      maxBodyBytes: config.maxBody,
      opening: (request, peer) => opening(request, { listener, dialect }, peer),
      routes: (request, peer) => {
        addresses.set(request, clientAddress(request.headers, peer, config.trustedProxies));
        return routes.fetch(request);
      },
    });
    resources.defer(() => server.stop(true));
    return { dialect: dialect ?? 'all', port: server.port ?? port };
  };

  for (const dialect of DIALECTS) await dialect.resume?.(ctx, hubOf(hubs, dialect.name));
  const main = open(config.port, null, 0);
  const doors = config.doors.map((listener, index) => open(listener.port, listener.dialect, index + 1));
  listening.push(main, ...doors);
  // After the ports are ours: a start that fails must not have made a user whose password nobody was told.
  const adminPassword = await ensureUsers(store, config.authUsers);
  readiness.serving();
  const resuming = resumeWhenServing(engine, log);
  const opened = resources.move();

  return {
    host: config.host,
    port: main.port,
    doors: listening.slice(1),
    adminPassword,
    async stop() {
      readiness.draining();
      await engine.drain(config.grace);
      await resuming;
      sockets.drain();
      await opened.disposeAsync();
    },
  };
}

/** After the caller has the server: no turn, whatever a model asked for in it, delays the start. */
async function resumeWhenServing(engine: Engine, log: Log): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  try {
    const resumed = await engine.recover();
    if (resumed > 0) log.info({ resumed }, 'unfinished turns resumed');
  } catch (err) {
    log.error({ err }, 'unfinished turns could not be resumed');
  }
}

/** Deployments rely on what `AUTH_USERS` takes: short passwords there are reported and not refused. */
function warnOfShortPasswords({ authUsers }: Config, log: Log): void {
  const short = authUsers.filter(({ password }) => newPasswordProblem(password) !== null);
  if (short.length === 0) return;
  const users = short.map(({ name }) => name);
  log.warn({ users }, 'AUTH_USERS has passwords with fewer than 8 characters: choose longer ones');
}

/** Loaded where spans are wanted, so that nobody else pays for it. */
async function tracesOf({ otlpEndpoint, serviceName }: Config, log: Log): Promise<Traces | null> {
  if (otlpEndpoint === undefined) return null;
  const { openTraces } = await import('./telemetry/traces.ts');
  return openTraces({ endpoint: otlpEndpoint, serviceName, log });
}

function hubOf<Name extends string, Some>(hubs: ReadonlyMap<Name, Some>, name: Name): Some {
  const hub = hubs.get(name);
  if (!hub) throw new Fault('not_found', `There is no dialect ${name}.`);
  return hub;
}

/** The tools there are; those of MCP servers come and go with what the servers say. */
function toolsOf(builtIn: readonly Tool[], mcp: McpTools): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  const renew = () => {
    tools.clear();
    for (const tool of [...builtIn, ...mcp.tools()]) tools.set(tool.name, tool);
  };
  renew();
  mcp.onChange(renew);
  return tools;
}

/** Everything that is answered over HTTP. */
export function app(ctx: DialectContext, channels: OpenChannels, operations: Operations): Hono {
  const routes = new Hono();
  routes.use(crossOrigin());
  for (const dialect of DIALECTS) dialect.routes?.(routes, ctx);
  channels.routes(routes, ctx);
  operationRoutes(routes, operations);
  consoleRoutes(routes, CONSOLE_FOLDER);
  // Made when it is first asked for, so that nobody else pays for it.
  routes.get('/openapi.json', async (c) => {
    const { openApiJson } = await import('./describe/served.ts');
    return c.body(openApiJson(), 200, { 'content-type': 'application/json' });
  });
  routes.get('/asyncapi.json', async (c) => {
    const { asyncApiJson } = await import('./describe/served.ts');
    return c.body(asyncApiJson(), 200, { 'content-type': 'application/json' });
  });
  routes.notFound((c) => c.json(refusal(c.req.path, 404, 'Not found'), 404));
  routes.onError((thrown, c) => {
    const ids = { request: requestIdOf(c.req.raw), path: c.req.path };
    ctx.log.error({ ...ids, err: thrown }, 'a request could not be handled');
    return c.json(refusal(c.req.path, 500, 'Something went wrong.'), 500);
  });
  return routes;
}

/** In the shape of the dialect that serves the path. */
function refusal(path: string, status: number, reason: string): object {
  for (const dialect of DIALECTS) {
    const body = dialect.refusal?.(path, status, reason);
    if (body) return body;
  }
  return plainRefusal(reason);
}
