/** The tools of a server: built-in tools, tools of the operator, and tools of MCP servers. */
import type { Config } from '../config/config.ts';
import { INSTALLATION, WORKSPACE } from '../config/installation.ts';
import type { AgentCatalog, ClientToolBroker, Log } from '../core/api/index.ts';
import type { Folders } from '../core/ports/folders.ts';
import type { SettingsStore } from '../core/ports/settings.ts';
import type { Tool } from '../core/ports/tool.ts';
import { openFolders } from '../tools/folders.ts';
import { openGuard } from '../tools/guard.ts';
import { builtInTools } from '../tools/index.ts';
import { type McpTools, openMcp } from '../tools/mcp/open.ts';
import type { Imports } from '../tools/own/imports.ts';
import type { Sandbox } from '../tools/shell/sandbox.ts';

export type ToolParts = {
  readonly clients: ClientToolBroker;
  readonly sandbox: Sandbox | null;
  readonly catalog: AgentCatalog;
  /** those configured at startup */
  readonly mcpServers: Config['mcpServers'];
  readonly settings: SettingsStore;
  readonly log: Log;
};

export type OpenTools = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly folders: Folders;
  readonly mcp: McpTools;
};

export async function openTools(
  config: Config,
  { clients, sandbox, catalog, mcpServers, settings, log }: ToolParts,
  resources: AsyncDisposableStack,
): Promise<OpenTools> {
  const imports = await ownImports(config);
  const guard = openGuard({
    hide: [config.data, ...(config.configFile === null ? [] : [config.configFile])],
    readOnly: [INSTALLATION, ...imports.readOnly],
    writable: [WORKSPACE, ...imports.writable],
    trust: { root: config.cwd, folders: config.trustedFolders },
  });
  resources.defer(() => guard.close());
  const agents = () => catalog.listed.agents.map((agent) => agent.id);
  const web = { key: config.serperKey, baseUrl: config.serperBaseUrl };
  const limits = {
    memory: config.commandMemory,
    processes: config.commandProcesses,
    disk: config.commandDisk,
  };
  const builtIn = builtInTools({ clients, sandbox, limits, agents, guard, web });
  const own = await ownTools(config, builtIn, log);
  const mcp = await openMcp(mcpServers, { log, settings });
  resources.defer(() => mcp.close());
  const folders = openFolders({ root: config.cwd, anywhere: config.anyFolder === true, guard });
  return { tools: toolsByName([...builtIn, ...own], mcp), folders, mcp };
}

/** Loaded only if there are any. */
async function ownTools({ tools: modules }: Config, builtIn: readonly Tool[], log: Log): Promise<Tool[]> {
  if (modules.length === 0) return [];
  const { loadOwnTools } = await import('../tools/own/load.ts');
  const own = await loadOwnTools(
    modules,
    builtIn.map(({ name }) => name),
  );
  log.info({ tools: own.map(({ name }) => name) }, 'own tools loaded');
  return own;
}

/** What agents must not change: the modules of the operator, and what they import. */
async function ownImports({ tools: modules, cwd }: Config): Promise<Imports> {
  if (modules.length === 0) return { readOnly: [], writable: [] };
  const { findImports } = await import('../tools/own/imports.ts');
  return findImports(modules, cwd);
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
