/** Validates a call. */
import { Fault, type JsonObject } from '@parlance/protocol';
import type { Tool } from '../ports/tool.ts';

/**
 * Returns the tool and its parsed input. Throws `tool_invalid` if the tool does not exist or the input is
 * invalid.
 */
export function possibleCall(
  tools: ReadonlyMap<string, Tool>,
  name: string,
  input: JsonObject,
): { readonly tool: Tool; readonly input: unknown } {
  const tool = tools.get(name);
  if (!tool) throw new Fault('tool_invalid', `Unknown tool: ${name}`);
  const parsed = tool.input.safeParse(input);
  if (parsed.success) return { tool, input: parsed.data };
  const issue = parsed.error.issues[0];
  const where = issue?.path.join('.') || 'input';
  throw new Fault('tool_invalid', `Invalid parameters for ${name}: ${where}: ${issue?.message}`);
}
