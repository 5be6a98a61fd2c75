/** Tools that the caller of a turn offers in addition to those of the agent. */
import type { CallerTool, TurnTerms } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../ports/tool.ts';

/** The caller executes the call, however late, and validates its input itself. */
const callerTool = ({ name, description, parameters }: CallerTool): Tool =>
  defineTool({
    name,
    description,
    parameters,
    input: z.record(z.string(), z.unknown()),
    deferred: true,
    approval: () => null,
    run: async () => ({ parts: [] }),
  });

/** The tools of a turn. If two have the same name, the caller's wins. */
export function withCallerTools(
  own: ReadonlyMap<string, Tool>,
  { tools = [], agentTools = true }: Pick<TurnTerms, 'tools' | 'agentTools'>,
): ReadonlyMap<string, Tool> {
  if (agentTools && tools.length === 0) return own;
  return new Map([
    ...(agentTools ? own : []),
    ...tools.map((tool) => [tool.name, callerTool(tool)] as const),
  ]);
}
