/** From a session to what a model is asked. */

import type { JsonObject } from '@parlance/protocol';
import { z } from 'zod';
import type { LiveSession } from './live-session.ts';
import type { Prompt, PromptItem, ToolSpec } from './ports/provider.ts';
import type { Tool } from './ports/tool.ts';
import type { TurnTools } from './turn.ts';

export async function promptOf(session: LiveSession, tools: TurnTools, agentId: string): Promise<Prompt> {
  const agent = tools.roster.agent(agentId);
  const context = await session.context();
  const { owner } = session.ref;
  return {
    task: 'chat',
    instructions: `${tools.instructions}\n\nYou are ${agent.name}. ${agent.instructions}`,
    items: (tools.trim ?? asTheyAre)(context.entries.map((entry) => entry.item)),
    tools: [...offeredTo(tools, agentId).values()]
      .filter((tool) => tool.available?.(owner) ?? true)
      .map(toolSpec),
  };
}

const asTheyAre = (items: PromptItem[]): readonly PromptItem[] => items;

/** The tools of an agent: those it names, or all. */
export function offeredTo(tools: TurnTools, agentId: string): ReadonlyMap<string, Tool> {
  const { tools: named } = tools.roster.agent(agentId);
  return new Map([...tools.tools].filter(([name, tool]) => (named ? named.includes(name) : !tool.special)));
}

const specs = new WeakMap<Tool, ToolSpec>();

/** The tool as a model and a client are told of it. Made once per tool. */
export function toolSpec(tool: Tool): ToolSpec {
  let spec = specs.get(tool);
  if (!spec) {
    const parameters = tool.parameters ?? (z.toJSONSchema(tool.input, { io: 'input' }) as JsonObject);
    spec = { name: tool.name, description: tool.description, parameters };
    specs.set(tool, spec);
  }
  return spec;
}
