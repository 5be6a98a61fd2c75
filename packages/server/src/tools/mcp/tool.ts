/**
 * One tool of an MCP server. Runs without approval only if the server declares it read-only, and has not changed
 * its definition since it was last used or approved.
 */
import { Fault, type JsonObject, JsonValue, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool, type ToolContext, type ToolResult } from '../../core/ports/tool.ts';
import { cutText } from '../cut.ts';
import type { Definition, McpAnswer, McpConnection } from './connection.ts';
import { hash, type PinState, type Pins } from './pins.ts';
import { dataOf, partsOf } from './result.ts';

/** The server validates its own input and reports better errors. */
const Input = z.record(z.string(), JsonValue);

const DESCRIPTION_CHARACTERS = 4_000;

export type McpToolOptions = {
  /** name for the model */
  readonly name: string;
  readonly server: string;
  readonly trusted: boolean;
  readonly definition: Definition;
  readonly connection: McpConnection;
  readonly pins: Pins;
};

export function mcpTool({ name, server, trusted, definition, connection, pins }: McpToolOptions): Tool {
  const readOnly = definition.annotations?.readOnlyHint === true;
  const grantOf = (id: string) => `mcp:${server}@${id}:${definition.name}`;
  const title = definition.title ?? definition.annotations?.title ?? definition.name;
  return defineTool({
    name,
    description: cutText(definition.description ?? title, DESCRIPTION_CHARACTERS),
    input: Input,
    parameters: definition.inputSchema as JsonObject,
    repeatable: readOnly || definition.annotations?.idempotentHint === true,
    definition: hash(definition),
    asks: !readOnly,
    exclusive: 'if-asked',
    sends: () => true,
    async approval(input) {
      const { changed, id } = await pins.look(server, definition);
      if (readOnly && changed.length === 0) return null;
      const change =
        changed.length === 0
          ? ''
          : ` Its definition (${changed.join(', ')}) has changed since it was last used or approved.`;
      return {
        kind: 'other',
        command: [name, JSON.stringify(input)],
        description: `Uses the tool ${definition.name} of the MCP server ${server}.${change}`,
        grant: grantOf(id),
      };
    },
    async run(input, context) {
      const pinned = await pins.look(server, definition);
      if (!covers(context, pinned, grantOf(pinned.id)))
        throw new Fault(
          'tool_failed',
          `The MCP server ${server} has changed the definition of ${definition.name} since this call was decided. It was not run. Call it again.`,
        );
      // Only a person or a rule accepts a changed definition; a mode does not.
      if (pinned.changed.length === 0 || context.permission === 'approved') await pinned.pin();
      const result = shown(await connection.call(definition.name, input, context.signal));
      return trusted ? result : { ...result, untrusted: true };
    },
  });
}

/** Whether the permission was given for the current definition. */
function covers(
  { permission, eventsSinceIdle, call }: ToolContext,
  pinned: PinState,
  grant: string,
): boolean {
  if (permission === 'safe') return pinned.changed.length === 0;
  const asked = eventsSinceIdle.findLast(
    (event) => event.type === 'approval.requested' && event.call === call,
  );
  if (asked?.type !== 'approval.requested') return true;
  // Without a grant, a rule of the operator asked, about a definition that had not changed.
  return asked.ask.grant === undefined ? pinned.changed.length === 0 : asked.ask.grant === grant;
}

function shown(answer: McpAnswer): ToolResult {
  if (answer.kind === 'refused') return { parts: [textPart(answer.message)], failed: true };
  const data = dataOf(answer.result);
  return {
    parts: partsOf(answer.result),
    ...(data ? { data } : {}),
    ...(answer.result.isError ? { failed: true } : {}),
  };
}
