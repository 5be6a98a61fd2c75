/** The composition root: the only file that names concrete adapters. */
import { mkdirSync, realpathSync } from 'node:fs';
import { type ConnectionId, Fault } from '@parlance/protocol';
import { Hono } from 'hono';
import { aboutOf } from './about.ts';
import { openAccounts } from './auth/accounts.ts';
import { admission } from './auth/admission.ts';
import { clientAddress } from './auth/client-address.ts';
import { openGate } from './auth/gate.ts';
import { guardOf, heldStreams } from './auth/held-streams.ts';
import { newPasswordProblem } from './auth/passwords.ts';
import { loadSecret } from './auth/secret.ts';
import { ensureUsers } from './auth/users.ts';
import { type OpenChannels, openChannels } from './channels.ts';
import { register } from './config/data-folder.ts';
import type { Config } from './config.ts';
import { consoleRoutes } from './console.ts';
import { withoutStalePages } from './copilot/stale-pages.ts';
import { ClientDesk } from './core/clients.ts';
import {
  type Connection,
  Engine,
  identify,
  type Log,
  requestIdOf,
  type Socket,
  tokenOf,
} from './core/engine.ts';
import type { Tool } from './core/ports/tool.ts';
import { TokenBuckets } from './core/token-bucket.ts';
import { Attachments } from './dialects/attachments.ts';
import { Audience } from './dialects/audience.ts';
import { watchChannels } from './dialects/copilot/channel-watch.ts';
import type { DialectName, Surroundings } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/index.ts';
import { placeOf } from './dialects/places.ts';
import { DEFAULT_INSTRUCTIONS, rosterOf } from './domains.ts';
import { INSTALLATION, isInstallation, WORKSPACE } from './installation.ts';
import { listenOrExplain } from './listen.ts';
import { openProvider, providersByModel } from './model-provider.ts';
import { metered } from './stores/rules/metered.ts';
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
import { anonymousBudget, ByteBudget } from './transports/byte-budget.ts';
import { crossOrigin } from './transports/cross-origin.ts';
import type { Opening } from './transports/dialect-socket.ts';
import { eventStreams } from './transports/event-stream.ts';
import { plainRefusal } from './transports/http.ts';
import { bodyReader } from './transports/request-body.ts';
import { socketTransport } from './transports/websocket.ts';

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
  const gate = openGate({
    users: store,
    revocations: store.revocations,
    secret,
    open: config.auth === 'open',
    limits: { attempts: config.loginAttempts },
    log,
    meter: metrics,
  });
  resources.defer(() => gate.close());
  const addresses = new WeakMap<Request, string>();
  const addressOf = (request: Request): string => addresses.get(request) ?? 'unknown';

  const clients = new ClientDesk();
  const roster = rosterOf(config.agents, config.domains);
  const providerFor = providersByModel(config, log);
  for (const { model } of roster.agents) if (model !== undefined) providerFor(model);
  const agents = () => roster.listed.agents.map((agent) => agent.id);
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
  const engine = new Engine({
    store: metered(store, metrics),
    meter: metrics,
    tracer: traces?.tracer,
    clients,
    roster,
    provider: openProvider(config.model, config, log),
    providerFor,
    rules: config.rules,
    tools,
    instructions: config.instructions ?? DEFAULT_INSTRUCTIONS,
    root: config.cwd,
    approvalMode: config.approval,
    context: { strategy: config.contextStrategy, threshold: config.contextThreshold },
    maxSteps: config.maxSteps,
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
  const attachments = new Attachments();
  const audiences = new Map(
    DIALECTS.map((d) => [d.name, new Audience(engine, d.projection, log, d.name, attachments)]),
  );
  const channelWatch = watchChannels({ engine, push: channels.push, log }, audienceOf(audiences, 'copilot'));
  resources.defer(() => channelWatch.stop());
  const around: Surroundings = {
    engine,
    gate,
    log,
    about: aboutOf(config, sandbox !== null, () => listening),
    figures: metrics.figures,
    problem: () => readiness.problem(),
    administration: {
      accounts: openAccounts({ users: store, gate, named: config.authUsers.map(({ name }) => name) }),
      doors: () =>
        listening.map((door, index) => ({ address: config.host, ...door, sockets: sockets.at(index) })),
      mcpServers: mcp.servers,
    },
    readBody: bodyReader(config, { budgets, addressOf, meter: metrics }),
    addressOf,
    push: channels.push,
    follow: channelWatch.follow,
    now: Date.now,
    newId: () => crypto.randomUUID(),
    attachments,
    stream: heldStreams(gate, eventStreams(config, log, metrics)),
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
    return dialect.open(socket, around, audienceOf(audiences, name));
  };

  const speaking = (dialect: DialectName) => (socket: Socket) => speak(dialect, socket);

  /** No function is made in here that lives on: it would keep the request for as long as the socket is open. */
  async function opening(
    request: Request,
    at: { readonly door: number; readonly dialect: DialectName | null },
    peer: string | undefined,
  ): Promise<Opening | null> {
    const { door, dialect } = at;
    const address = clientAddress(request.headers, peer, config.trustedProxies);
    const url = new URL(request.url);
    const id = crypto.randomUUID() as string as ConnectionId;
    const channel = dialect === null || dialect === 'pusher' ? channels.accept(url) : null;
    // Whoever opens one is nobody yet: private channels are granted one by one, public ones need no token.
    if (channel)
      return {
        ...{ id, principal: null, session: null, door, address, accept: channel },
        ...{ unknown: config.auth === 'required', mayStay: true },
      };
    if (dialect === 'pusher') return null;
    const token = tokenOf(request);
    const accept = dialect ? speaking(dialect) : placeOf(url.pathname, token !== null, speak);
    if (!accept) return null;
    const session = url.searchParams.get('session');
    try {
      const principal = await identify(gate, token);
      const guard = token === null ? undefined : guardOf(gate, token);
      return { id, principal, session, door, address, unknown: principal === null, guard, accept };
    } catch (thrown) {
      const ids = { request: requestIdOf(request), connection: id };
      log.info({ ...ids, reason: String(thrown) }, 'a socket came with a bad token');
      return { id, principal: null, session, door, address, accept: { code: 1008, reason: 'Invalid token' } };
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
  const routes = app(around, channels, { gate, metrics, metricsToken, readiness });
  const admit = admission({ host: config.host, allowedOrigins: config.allowedOrigins }, log);
  const open = (port: number, dialect: DialectName | null, door: number) => {
    const server = listenOrExplain(dialect, {
      hostname: config.host,
      port,
      sockets,
      admit,
      refusal,
      log,
      maxBodyBytes: config.maxBody,
      opening: (request, peer) => opening(request, { door, dialect }, peer),
      routes: (request, peer) => {
        addresses.set(request, clientAddress(request.headers, peer, config.trustedProxies));
        return routes.fetch(request);
      },
    });
    resources.defer(() => server.stop(true));
    return { dialect: dialect ?? 'all', port: server.port ?? port };
  };

  for (const dialect of DIALECTS) await dialect.resume?.(around, audienceOf(audiences, dialect.name));
  const main = open(config.port, null, 0);
  const doors = config.doors.map((door, index) => open(door.port, door.dialect, index + 1));
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

function audienceOf<Name extends string, Some>(audiences: ReadonlyMap<Name, Some>, name: Name): Some {
  const audience = audiences.get(name);
  if (!audience) throw new Fault('not_found', `There is no dialect ${name}.`);
  return audience;
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
export function app(around: Surroundings, channels: OpenChannels, operations: Operations): Hono {
  const routes = new Hono();
  routes.use(crossOrigin());
  for (const dialect of DIALECTS) dialect.routes?.(routes, around);
  channels.routes(routes, around);
  operationRoutes(routes, operations);
  consoleRoutes(routes);
  // Made when it is first asked for, so that nobody else pays for it.
  routes.get('/openapi.json', async (c) => {
    const { servedDocument } = await import('./openapi/served.ts');
    return c.body(servedDocument(), 200, { 'content-type': 'application/json' });
  });
  routes.notFound((c) => c.json(refusal(c.req.path, 404, 'Not found'), 404));
  routes.onError((thrown, c) => {
    const ids = { request: requestIdOf(c.req.raw), path: c.req.path };
    around.log.error({ ...ids, err: thrown }, 'a request could not be handled');
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
