/** Opens the engine and its dependencies: store, users, tools, providers, telemetry. */

import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { withoutStalePages } from '@parlance/copilot';
import { LOCAL } from '@parlance/protocol';
import { openAuthenticator } from '../accounts/authenticator.ts';
import { newPasswordProblem } from '../accounts/passwords.ts';
import { vaultOf } from '../accounts/seal.ts';
import {
  type Changeable,
  type Config,
  installCommand,
  isConnected,
  packageFolders,
  VENDOR_NAMES,
  VENDORS,
} from '../config/config.ts';
import { INSTALLATION, isInstallation, WORKSPACE } from '../config/installation.ts';
import {
  type AgentCatalog,
  ClientToolBroker,
  createEngine,
  type Engine,
  type Log,
  openMemoryBus,
  ROLES,
} from '../core/index.ts';
import type { Checkpoints } from '../core/ports/checkpoints.ts';
import type { CustomModules } from '../core/ports/custom-modules.ts';
import type { FolderFiles } from '../core/ports/folder-files.ts';
import type { Project } from '../core/ports/project.ts';
import type { Folders, Tool } from '../core/ports/tool.ts';
import type { Worktrees } from '../core/ports/worktrees.ts';
import type { Dialect } from '../dialects/kit/dialect.ts';
import { native } from '../dialects/native/dialect.ts';
import type { Authenticator } from '../http/authenticator.ts';
import { metered } from '../stores/shared/metered.ts';
import { openLog } from '../telemetry/log.ts';
import { type Metrics, openMetrics } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { LocalCheckpoints } from '../tools/checkpoints/checkpoints.ts';
import type { Imports } from '../tools/custom/imports.ts';
import type { LoadedModules } from '../tools/custom/offers.ts';
import { openFolders } from '../tools/folders.ts';
import { type Guard, openGuard } from '../tools/guard.ts';
import { builtInTools } from '../tools/index.ts';
import { type McpTools, openMcp } from '../tools/mcp/open.ts';
import { findSandbox, type Sandbox } from '../tools/shell/sandbox.ts';
import type { LocalWorktrees } from '../tools/worktrees/worktrees.ts';
import { agentCatalog, chainsIn, DEFAULT_INSTRUCTIONS } from './domains.ts';
import { liveProvider, providersByModel } from './model-provider.ts';
import { openPrices, type Prices } from './prices.ts';
import { followSettings, type LiveSetup, openSetup } from './setup/open.ts';
import { openStorage, type Storage } from './storage.ts';

export type Backend = {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly storage: Storage;
  readonly store: Storage['store'];
  readonly authenticator: Authenticator;
  readonly engine: Engine;
  readonly mcp: McpTools;
  readonly custom: CustomModules;
  readonly prices: Prices;
  readonly sandbox: Sandbox | null;
  readonly setup: LiveSetup;
  readonly guard: Guard;
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
    signIns: store.signIns,
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
  const prices = await openPrices({ store, live, log }, resources);
  const catalog = agentCatalog(live.current, dialects);
  const providerFor = providersByModel(config, live, log);
  for (const model of chainsIn(live.current, catalog)) providerFor(model);
  const { mcpServers } = live.current;
  const toolParts = { clients, sandbox, catalog, mcpServers, store, secret, log };
  const { tools, folders, mcp, custom, guard, project, worktrees } = await openTools(
    config,
    toolParts,
    resources,
  );
  followSettings(live, { catalog, mcp, dialects, log });
  const engine = createEngine({
    store: metered(store, metrics),
    search: store.search,
    turns: store.turns,
    usage: store.usage,
    usageDays: config.usageDays,
    spendLimits: () => live.current.spendLimits,
    priceOf: prices.of,
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
    provider: liveProvider(config, { live, providerFor, log }),
    providerFor,
    fallbackFromNamed: config.fallbackFromNamed,
    coolDownMs: config.fallbackCoolDown,
    rules: config.rules,
    tools,
    instructions: config.instructions ?? DEFAULT_INSTRUCTIONS,
    root: config.cwd,
    folders,
    checkpoints: openCheckpoints(config, { guard, store, log }, resources),
    worktrees,
    files: folderFiles(guard),
    project,
    approvalMode: config.approval,
    context: { strategy: config.contextStrategy, threshold: config.contextThreshold },
    maxSteps: config.maxSteps,
    parallelCalls: config.parallelCalls,
    subAgents: config.subAgents,
    titles: config.titles === 'model' ? native.name : undefined,
    trim: withoutStalePages,
    fullAutoProblem,
    turnsAtOnce: config.turnsAtOnce,
    limits: config,
    ephemeralIdleMs: config.ephemeralIdle,
    cachedCharacters: config.cachedCharacters,
    now: Date.now,
    newId: () => crypto.randomUUID(),
    log,
  });
  // Not earlier: a start that fails prints only its reason.
  if (isRoot())
    log.warn({}, 'running as root: a command that escapes its sandbox has all rights; use another user');
  warnOfPackages(config, live.current, log);
  return { log, metrics, storage, store, authenticator, engine, mcp, custom, prices, sandbox, setup, guard };
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

// Warns about configurations that are probably not intended.

/** Creates the working directory, in order to resolve its path. */
function warnAbout(config: Config, log: Log): void {
  for (const file of config.ignoredFiles)
    log.warn({ file }, 'configuration file ignored: name it with --config, or put it into the data folder');
  mkdirSync(config.cwd, { recursive: true });
  if (isInstallation(realpathSync(config.cwd)))
    log.warn({ cwd: config.cwd }, "working directory is part of the server's code: tools cannot change it");
  warnOfShortPasswords(config, log);
}

/** Only of vendors with a key or an address: for the others, nothing is looked for. */
function warnOfPackages({ data }: Config, current: Changeable, log: Log): void {
  for (const vendor of VENDOR_NAMES) {
    const { package: name } = VENDORS[vendor];
    if (name === undefined || !isConnected(current.vendor(vendor))) continue;
    // Whether it is complete is looked at when it is used: that reads the files of all that it imports.
    if (packageFolders(data).some((folder) => existsSync(join(folder, name, 'package.json')))) continue;
    log.warn({ vendor, install: installCommand(name, data) }, 'the package of a vendor is not installed');
  }
}

/** Existing deployments may have short passwords in `AUTH_USERS`: warn instead of refusing them. */
function warnOfShortPasswords({ authUsers }: Config, log: Log): void {
  const short = authUsers.filter(({ password }) => newPasswordProblem(password) !== null);
  if (short.length === 0) return;
  const users = short.map(({ name }) => name);
  log.warn({ users }, 'AUTH_USERS has passwords with fewer than 8 characters: choose longer ones');
}

// The tools of a server: built-in tools, tools of the operator, and tools of MCP servers.

type ToolParts = {
  readonly clients: ClientToolBroker;
  readonly sandbox: Sandbox | null;
  readonly catalog: AgentCatalog;
  /** those configured at startup */
  readonly mcpServers: Config['mcpServers'];
  readonly store: Pick<Storage['store'], 'settings' | 'decisions' | 'revocations' | 'load'>;
  readonly secret: Storage['secret'];
  readonly log: Log;
};

type OpenTools = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly folders: Folders;
  readonly mcp: McpTools;
  readonly custom: CustomModules;
  readonly guard: Guard;
  readonly project: Project | undefined;
  readonly worktrees: Worktrees | undefined;
};

async function openTools(
  config: Config,
  { clients, sandbox, catalog, mcpServers, store, secret, log }: ToolParts,
  resources: AsyncDisposableStack,
): Promise<OpenTools> {
  const imports = await ownImports(config);
  const guard = openGuard({
    hide: [config.data, ...(config.configFile === null ? [] : [config.configFile])],
    readOnly: [INSTALLATION, ...imports.readOnly, ...config.skillFolders],
    writable: [WORKSPACE, ...imports.writable],
    trust: { root: config.cwd, folders: config.trustedFolders },
    originOf: (root) => worktrees?.originOf(root),
  });
  resources.defer(() => guard.close());
  const agents = () => catalog.listed.agents.map((agent) => agent.id);
  const web = { key: config.serperKey, baseUrl: config.serperBaseUrl };
  const limits = {
    memory: config.commandMemory,
    processes: config.commandProcesses,
    disk: config.commandDisk,
  };
  const subAgents = config.subAgents > 0 ? () => [...ROLES, ...catalog.listed.agents] : undefined;
  const builtIn = builtInTools({ clients, sandbox, limits, agents, subAgents, guard, web });
  const custom = await customModules(config);
  const customTools = await loadFromFolder(config, builtIn, custom, log);
  const mcp = await openMcp(mcpServers, {
    ...{ log, settings: store.settings, vault: vaultOf(secret) },
    publicUrl: config.publicUrl,
  });
  resources.defer(() => mcp.close());
  const reload = () =>
    mcp.reload().catch((err) => log.warn({ err }, 'failed to read sign-ins of MCP servers'));
  resources.defer(store.revocations.follow(() => void reload()));
  const folders = openFolders({
    root: config.cwd,
    more: config.workFolders,
    anywhere: config.anyFolder === true,
    guard,
  });
  const project = await projectOf(config, { guard, catalog, store, log });
  const worktrees = config.subAgents > 0 ? openWorktrees(config, { guard, folders, store, log }) : undefined;
  const fixed = [...builtIn, ...(project ? [project.tool] : []), ...customTools];
  return { tools: toolsByName(fixed, mcp), folders, mcp, custom, guard, project, worktrees };
}

/** Of files that a worktree may have at most, twice, if checkpoints are switched off. */
const DEFAULT_SPACE = 1024 ** 3;

/** Loaded unless it is switched off. */
async function projectOf(
  config: Config,
  { guard, catalog, store, log }: Pick<ToolParts, 'catalog' | 'store' | 'log'> & { readonly guard: Guard },
): Promise<Project | undefined> {
  if (!config.projectInstructions) return undefined;
  const { openProject } = await import('../tools/project/open.ts');
  return openProject({
    decisions: store.decisions,
    guard,
    root: config.cwd,
    anywhere: config.anyFolder === true,
    skillFolders: [join(config.data, 'skills'), ...config.skillFolders],
    skillsOf: (agent) => catalog.agents.find(({ id }) => id === agent)?.skills,
    now: Date.now,
    log,
  });
}

const NO_MODULES = {
  prompts: [],
  resources: [],
  onChange: () => () => undefined,
  announce: () => undefined,
} satisfies LoadedModules;

/** Loaded only if there are any. */
async function customModules(config: Config): Promise<LoadedModules> {
  if (modulesOf(config).length === 0) return NO_MODULES;
  const { loadOffers } = await import('../tools/custom/offers.ts');
  return loadOffers(config);
}

/** Loaded only if there are any. */
async function loadFromFolder(
  { tools: modules }: Config,
  builtIn: readonly Tool[],
  { announce }: LoadedModules,
  log: Log,
): Promise<Tool[]> {
  if (modules.length === 0) return [];
  const { loadCustomTools } = await import('../tools/custom/load.ts');
  const custom = await loadCustomTools(
    modules,
    builtIn.map(({ name }) => name),
    announce,
  );
  log.info({ tools: custom.map(({ name }) => name) }, 'custom tools loaded');
  return custom;
}

const modulesOf = ({ tools, prompts, resources }: Config): readonly string[] => [
  ...new Set([...tools, ...prompts, ...resources]),
];

/** What agents must not change: the modules of the operator, and what they import. */
async function ownImports(config: Config): Promise<Imports> {
  const modules = modulesOf(config);
  if (modules.length === 0) return { readOnly: [], writable: [] };
  const { findImports } = await import('../tools/custom/imports.ts');
  return findImports(modules, config.cwd);
}

/** Loaded before the first call that may change files. Undefined if they are switched off. */
function openCheckpoints(
  { data, checkpointSpace: space, checkpointFiles: maxEntries }: Config,
  { guard, store, log }: Pick<Backend, 'store' | 'log'> & { readonly guard: Guard },
  resources: AsyncDisposableStack,
): Checkpoints | undefined {
  if (space === 0) return undefined;
  let opened: Promise<LocalCheckpoints> | null = null;
  const open = () => {
    opened ??= import('../tools/checkpoints/checkpoints.ts').then(
      (loaded) =>
        new loaded.LocalCheckpoints({
          data,
          guard,
          space,
          maxEntries,
          exists: async ({ createdAt, ...ref }) => (await store.load(ref))?.createdAt === createdAt,
          log,
        }),
    );
    return opened;
  };
  resources.defer(async () => (await opened)?.close());
  return {
    before: async (call, what) => (await open()).before(call, what),
    preview: async (request) => (await open()).preview(request),
    restore: async (request) => (await open()).restore(request),
    versions: async (file) => (await open()).versions(file),
    content: async (file) => (await open()).content(file),
    knows: async (session) => (await open()).knows(session),
    forget: async (session) => (await open()).forget(session),
  };
}

/** Loaded before the first one is made or used. */
function openWorktrees(
  { data, cwd, checkpointSpace, checkpointFiles: maxEntries }: Config,
  {
    guard,
    folders,
    store,
    log,
  }: Pick<ToolParts, 'log'> & {
    readonly guard: Guard;
    readonly folders: Folders;
    readonly store: Pick<Storage['store'], 'load'>;
  },
): Worktrees & { readonly originOf: (root: string) => string | undefined } {
  let opened: Promise<LocalWorktrees> | null = null;
  let loaded: LocalWorktrees | null = null;
  const open = () => {
    opened ??= import('../tools/worktrees/worktrees.ts').then((module) => {
      loaded = new module.LocalWorktrees({
        data,
        guard,
        maxEntries,
        maxBytes: (checkpointSpace || DEFAULT_SPACE) / 2,
        exists: async (ref) => (await store.load(ref)) !== null,
        check: async (folder) => {
          if (folder !== realpathSync(cwd)) await folders.check(folder);
        },
        log,
      });
      return loaded;
    });
    return opened;
  };
  return {
    originOf: (root) => loaded?.originOf(root),
    make: async (...given) => (await open()).make(...given),
    folder: async (session) => (await open()).folder(session),
    changes: async (session) => (await open()).changes(session),
    apply: async (...given) => (await open()).apply(...given),
    discard: async (session) => (await open()).discard(session),
    forget: async (session) => {
      if (loaded || existsSync(join(data, 'worktrees'))) await (await open()).forget(session);
    },
  };
}

/** Updates the map when an MCP server adds or removes tools. */
function toolsByName(fixed: readonly Tool[], mcp: McpTools): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  const renew = () => {
    tools.clear();
    for (const tool of [...fixed, ...mcp.tools()]) tools.set(tool.name, tool);
  };
  renew();
  mcp.onChange(renew);
  return tools;
}

/** Loaded when somebody looks at files. */
function folderFiles(guard: Guard): FolderFiles {
  const files = async () => (await import('../tools/folder-files.ts')).openFolderFiles(guard);
  return {
    list: async (...folder) => (await files()).list(...folder),
    find: async (...search) => (await files()).find(...search),
    open: async (...file) => (await files()).open(...file),
  };
}
