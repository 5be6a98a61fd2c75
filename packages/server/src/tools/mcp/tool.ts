/** One tool of an MCP server. Runs without approval only if the server declares it read-only. */
import { type JsonObject, JsonValue, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool, type ToolResult } from '../../core/ports/tool.ts';
import { cutText } from '../cut.ts';
import type { Definition, McpAnswer, McpConnection } from './connection.ts';
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
};

export function mcpTool({ name, server, trusted, definition, connection }: McpToolOptions): Tool {
  const readOnly = definition.annotations?.readOnlyHint === true;
  const title = definition.title ?? definition.annotations?.title ?? definition.name;
  return defineTool({
    name,
    description: cutText(definition.description ?? title, DESCRIPTION_CHARACTERS),
    input: Input,
    parameters: definition.inputSchema as JsonObject,
    repeatable: readOnly || definition.annotations?.idempotentHint === true,
    asks: !readOnly,
    exclusive: 'if-asked',
    approval: (input) =>
      readOnly
        ? null
        : {
            kind: 'other',
            command: [name, JSON.stringify(input)],
            description: `Uses the tool ${definition.name} of the MCP server ${server}.`,
            grant: `mcp:${server}:${definition.name}`,
          },
    run: async (input, { signal }) => {
      const result = shown(await connection.call(definition.name, input, signal));
      return trusted ? result : { ...result, untrusted: true };
    },
  });
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
