/** The built-in tools. */

import type { ClientTools, Tool } from '../core/ports/tool.ts';
import { agentTool } from './agent.ts';
import { askUser } from './ask-user.ts';
import { browserTools } from './browser.ts';
import { COPILOT_TOOLS } from './copilot/tools.ts';
import { echo } from './echo.ts';
import { fetchPage } from './fetch/tool.ts';
import { type Guard, withGuard } from './guard.ts';
import { handoff } from './handoff.ts';
import { listFiles } from './list-files.ts';
import { applyPatchTool } from './patch/tool.ts';
import { readFile } from './read-file.ts';
import { saveFile } from './save-file.ts';
import { searchFiles } from './search/tool.ts';
import type { CommandLimits } from './shell/limits.ts';
import type { Sandbox } from './shell/sandbox.ts';
import { shell } from './shell/tool.ts';
import { updatePlan } from './update-plan.ts';
import { webSearch } from './web-search.ts';

export type { Sandbox } from './shell/sandbox.ts';

export type BuiltInOptions = {
  readonly clients: ClientTools;
  /** null if commands run without a sandbox and need approval unless known to be safe */
  readonly sandbox: Sandbox | null;
  /** of each command */
  readonly limits?: CommandLimits;
  /** ids of agents that can take over a conversation */
  readonly agents: () => readonly string[];
  /** agents that sub-agents can be; without it, there are none */
  readonly subAgents?: Parameters<typeof agentTool>[0] | undefined;
  /** files of the server itself */
  readonly guard?: Guard;
  /** the search API; without a key, `web_search` is not offered */
  readonly web?: { readonly key?: string | undefined; readonly baseUrl?: string | undefined };
};

export function builtInTools({
  clients,
  sandbox,
  limits,
  agents,
  subAgents,
  guard = { hide: [] },
  web,
}: BuiltInOptions): Tool[] {
  const shellOptions = withGuard(guard, { sandbox, limits });
  return [
    shell('shell', shellOptions),
    shell('local_shell', shellOptions),
    applyPatchTool(guard),
    readFile(guard),
    listFiles(guard),
    searchFiles(withGuard(guard, { ripgrep: Bun.which('rg') })),
    echo,
    saveFile(guard),
    handoff(agents),
    updatePlan,
    askUser,
    ...(subAgents ? [agentTool(subAgents)] : []),
    fetchPage(),
    ...(web?.key ? [webSearch({ key: web.key, baseUrl: web.baseUrl })] : []),
    ...browserTools(clients),
    ...COPILOT_TOOLS,
  ];
}
