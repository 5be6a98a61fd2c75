/** The tools of one server: the built-in ones and those of MCP servers. */
import type { Config } from '../config/config.ts';
import { INSTALLATION, WORKSPACE } from '../config/installation.ts';
import type { AgentCatalog, ClientToolBroker, Log } from '../core/api/index.ts';
import type { Folders } from '../core/ports/folders.ts';
import type { Tool } from '../core/ports/tool.ts';
import { openFolders } from '../tools/folders.ts';
import { openGuard } from '../tools/guard.ts';
import { builtInTools } from '../tools/index.ts';
import { type McpTools, openMcp } from '../tools/mcp/open.ts';
import type { Sandbox } from '../tools/shell/sandbox.ts';

export type ToolParts = {
  readonly clients: ClientToolBroker;
  readonly sandbox: Sandbox | null;
  readonly catalog: AgentCatalog;
  /** those of the start */
  readonly mcpServers: Config['mcpServers'];
  readonly log: Log;
};

export type OpenTools = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly folders: Folders;
  readonly mcp: McpTools;
};

export async function openTools(
  config: Config,
  { clients, sandbox, catalog, mcpServers, log }: ToolParts,
  resources: AsyncDisposableStack,
): Promise<OpenTools> {
  const guard = openGuard({
    hide: [config.data, ...(config.configFile === null ? [] : [config.configFile])],
    readOnly: [INSTALLATION],
    writable: [WORKSPACE],
  });
  resources.defer(() => guard.close());
  const agents = () => catalog.listed.agents.map((agent) => agent.id);
  const web = { key: config.serperKey, baseUrl: config.serperBaseUrl };
  const builtIn = builtInTools({ clients, sandbox, agents, guard, web });
  const mcp = await openMcp(mcpServers, { log });
  resources.defer(() => mcp.close());
  const folders = openFolders({ root: config.cwd, anywhere: config.anyFolder === true, guard });
  return { tools: toolsByName(builtIn, mcp), folders, mcp };
}

/** The map changes when an MCP server adds or removes tools. */
function toolsByName(builtIn: readonly Tool[], mcp: McpTools): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  const renew = () => {
    tools.clear();
    for (const tool of [...builtIn, ...mcp.tools()]) tools.set(tool.name, tool);
  };
  renew();
  mcp.onChange(renew);
  return tools;
}
