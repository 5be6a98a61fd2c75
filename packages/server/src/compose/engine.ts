/** Opens the engine and its dependencies: store, users, tools, providers, telemetry. */
import { withoutStalePages } from '@parlance/copilot';
import { LOCAL } from '@parlance/protocol';
import { openAuthenticator } from '../auth/authenticator.ts';
import { openMemoryBus } from '../buses/memory/bus.ts';
import type { Config } from '../config/config.ts';
import { ClientToolBroker, createEngine, type Engine, type Log } from '../core/api/index.ts';
import { native } from '../dialects/native/dialect.ts';
import type { Dialect } from '../dialects/shared/dialect.ts';
import type { Authenticator } from '../http/authenticator.ts';
import { metered } from '../stores/shared/metered.ts';
import { openLog } from '../telemetry/log.ts';
import { type Metrics, openMetrics } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { McpTools } from '../tools/mcp/open.ts';
import { findSandbox, type Sandbox } from '../tools/shell/sandbox.ts';
import { agentCatalog, DEFAULT_INSTRUCTIONS } from './domains.ts';
import { liveProvider } from './live-provider.ts';
import { providersByModel } from './model-provider.ts';
import { followSettings, type LiveSetup, openSetup } from './setup/open.ts';
import { openStorage, type Storage } from './storage.ts';
import { openTools } from './tools.ts';
import { warnAbout } from './warnings.ts';

export type Backend = {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly storage: Storage;
  readonly store: Storage['store'];
  readonly authenticator: Authenticator;
  readonly engine: Engine;
  readonly mcp: McpTools;
  readonly sandbox: Sandbox | null;
  readonly setup: LiveSetup;
};

/** Registers everything it opens with `resources`. Throws if the configuration is not usable. */
export async function openBackend(
  config: Config,
  dialects: readonly Dialect[],
  resources: AsyncDisposableStack,
): Promise<Backend> {
  const log = openLog(config.logLevel);
  warnAbout(config, log);
  const metrics = openMetrics();
  const traces = await tracesOf(config, log);
  resources.defer(() => traces?.close());
  const [storage, sandbox] = await Promise.all([
    openStorage(config, { log, metrics }, resources),
    findSandbox(),
  ]);
  const { store, secret, cluster } = storage;
  const fullAutoProblem = problemOfFullAuto(config, sandbox);
  if (config.approval === 'full-auto' && fullAutoProblem !== null) throw new Error(fullAutoProblem);
  const authenticator = openAuthenticator({
    users: store,
    apiKeys: store.apiKeys,
    pairings: store.pairings,
    revocations: store.revocations,
    secret,
    open: config.auth === 'open',
    limits: { attempts: config.loginAttempts },
    attempts: storage.loginAttempts,
    log,
    meter: metrics,
  });
  resources.defer(() => authenticator.close());

  const clients = new ClientToolBroker();
  const setup = await openSetup(config, { storage, dialects, log }, resources);
  const { live } = setup;
  const catalog = agentCatalog(live.current, dialects);
  const providerFor = providersByModel(config, live, log);
  for (const { model } of catalog.agents) if (model !== undefined) providerFor(model);
  const { mcpServers } = live.current;
  const toolParts = { clients, sandbox, catalog, mcpServers, settings: store.settings, log };
  const { tools, folders, mcp } = await openTools(config, toolParts, resources);
  followSettings(live, { catalog, mcp, dialects, log });
  const engine = createEngine({
    store: metered(store, metrics),
    search: store.search,
    turns: store.turns,
    shares: store.shares,
    isOwner: async (name, since) => {
      if (name === LOCAL.id) return config.auth === 'open';
      const user = await store.find(name);
      return user !== null && user.createdAt <= since;
    },
    bus: openMemoryBus(log),
    leases: store.leases,
    cluster,
    meter: metrics,
    tracer: traces?.tracer,
    clients,
    catalog,
    provider: liveProvider(config, live, log),
    providerFor,
    rules: config.rules,
    tools,
    instructions: config.instructions ?? DEFAULT_INSTRUCTIONS,
    root: config.cwd,
    folders,
    approvalMode: config.approval,
    context: { strategy: config.contextStrategy, threshold: config.contextThreshold },
    maxSteps: config.maxSteps,
    parallelCalls: config.parallelCalls,
    titles: config.titles === 'model' ? native.name : undefined,
    trim: withoutStalePages,
    fullAutoProblem,
    turnsAtOnce: config.turnsAtOnce,
    limits: config,
    ephemeralIdleMs: config.ephemeralIdle,
    now: Date.now,
    newId: () => crypto.randomUUID(),
    log,
  });
  // Not earlier: a start that fails prints only its reason.
  if (isRoot())
    log.warn({}, 'running as root: a command that escapes its sandbox has all rights; use another user');
  return { log, metrics, storage, store, authenticator, engine, mcp, sandbox, setup };
}

/** Loaded only if traces are exported. */
async function tracesOf({ otlpEndpoint, serviceName }: Config, log: Log): Promise<Traces | null> {
  if (otlpEndpoint === undefined) return null;
  const { openTraces } = await import('../telemetry/traces.ts');
  return openTraces({ endpoint: otlpEndpoint, serviceName, log });
}

const isRoot = (): boolean => process.getuid?.() === 0;

function problemOfFullAuto({ fullAutoAsRoot }: Config, sandbox: Sandbox | null): string | null {
  if (!sandbox)
    return 'approval mode full-auto needs a sandbox (bubblewrap), which is not available on this machine';
  if (isRoot() && !fullAutoAsRoot)
    return 'approval mode full-auto is not available as root: use another user, or start with --full-auto-as-root on';
  return null;
}
