/** The tools of all configured MCP servers. The SDK is loaded only if there is a server. */

import { Fault, type JsonObject, JsonValue, textPart } from '@parlance/protocol';
import { z } from 'zod';
import type { SettingsStore } from '../../accounts/store.ts';
import { defineTool, type Tool, type ToolContext, type ToolResult } from '../../core/ports/tool.ts';
import { Listeners } from '../../lib/listeners.ts';
import { within } from '../../lib/sleep.ts';
import { cutText } from '../cut.ts';
import {
  type ConnectionOptions,
  type Definition,
  type McpAnswer,
  McpConnection,
  type McpError,
  type McpState,
} from './connection.ts';
import { toolNames } from './names.ts';
import { hash, openPins, type PinState, type Pins } from './pins.ts';
import { dataOf, partsOf } from './result.ts';
import type { McpServer, McpServers } from './servers.ts';

export type McpOptions = ConnectionOptions & {
  /** where the pins of the tools' definitions are stored */
  readonly settings: SettingsStore;
  /** how long startup waits for servers, in milliseconds; slower ones are added when ready */
  readonly patienceMs?: number;
};

/** Status of a server for operators. */
export type McpServerView = {
  readonly name: string;
  /** transport: a child process or an address */
  readonly kind: 'process' | 'address';
  readonly trusted: boolean;
  readonly state: McpState;
  /** names for models; while the server is unavailable, those listed last */
  readonly tools: readonly string[];
  readonly error: McpError | null;
  /** latest lines of its stderr, without secrets */
  readonly output: readonly string[];
};

export type McpTools = {
  /** current tools; the array is replaced only on changes */
  tools(): readonly Tool[];
  /** Current status of all configured servers. */
  servers(): McpServerView[];
  /** Calls the listener if a server connects or its tools change. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /**
   * Starts new and changed servers, stops removed ones, and keeps the others. Resolves after the first
   * attempts.
   */
  configure(servers: McpServers): Promise<void>;
  /** Resolves after the first attempt to restart it; false if the server does not exist. */
  restart(name: string): Promise<boolean>;
  /** Stops all servers. */
  close(): Promise<void>;
};

const PATIENCE_MS = 10_000;

type Entry = {
  readonly name: string;
  readonly server: McpServer;
  readonly connection: McpConnection;
  tools: readonly string[];
};

/** An unreachable server is logged and retried; it never prevents startup. */
export async function openMcp(servers: McpServers, options: McpOptions): Promise<McpTools> {
  let entries: readonly Entry[] = [];
  const listeners = new Listeners();
  const pins = openPins(options.settings);
  let current: Tool[] = [];
  const renew = () => {
    const offers = entries.flatMap((entry) =>
      entry.connection.definitions.map((definition) => ({
        ...entry,
        trusted: entry.server.trusted,
        server: entry.name,
        definition,
      })),
    );
    const names = toolNames(offers.map(({ server, definition }) => ({ server, tool: definition.name })));
    current = offers.map((offer, index) => mcpTool({ ...offer, name: names[index] ?? '', pins }));
    for (const entry of entries)
      entry.tools = names.filter((_, index) => offers[index]?.server === entry.name);
    listeners.notify();
  };

  function started(name: string, server: McpServer): Entry {
    const connection = new McpConnection(name, server, options);
    connection.onChange = renew;
    return { name, server, connection, tools: [] };
  }

  /** Starts new entries of `next` and stops removed ones. Resolves after the first attempts. */
  async function change(next: readonly Entry[]): Promise<void> {
    const [before, kept] = [entries, new Set(next)];
    const added = next.filter((entry) => !before.includes(entry));
    entries = next;
    renew();
    const stopped = before.filter((entry) => !kept.has(entry)).map(({ connection }) => connection.close());
    await Promise.all([...stopped, ...added.map(({ connection }) => connection.start())]);
  }

  const configure = (configured: McpServers): Promise<void> =>
    change(
      Object.entries(configured).map(([name, server]) => {
        const same = entries.find((entry) => entry.name === name && Bun.deepEquals(entry.server, server));
        return same ?? started(name, server);
      }),
    );

  await within(options.patienceMs ?? PATIENCE_MS, configure(servers));
  return {
    tools: () => current,
    servers: () =>
      entries.map(({ name, server, tools, connection: { state, lastError, output } }) => ({
        name,
        kind: 'url' in server ? 'address' : 'process',
        trusted: server.trusted,
        state,
        tools,
        error: lastError,
        output,
      })),
    onChange: listeners.add,
    configure,
    async restart(name) {
      if (!entries.some((entry) => entry.name === name)) return false;
      await change(entries.map((entry) => (entry.name === name ? started(name, entry.server) : entry)));
      return true;
    },
    close: async () => void (await Promise.all(entries.map((entry) => entry.connection.close()))),
  };
}

// One tool of an MCP server. Runs without approval only if the server declares it read-only, and has not changed
// its definition since it was last used or approved.

/** The server validates its own input and reports better errors. */
const Input = z.record(z.string(), JsonValue);

const DESCRIPTION_CHARACTERS = 4_000;

type McpToolOptions = {
  /** name for the model */
  readonly name: string;
  readonly server: string;
  readonly trusted: boolean;
  readonly definition: Definition;
  readonly connection: McpConnection;
  readonly pins: Pins;
};

function mcpTool({ name, server, trusted, definition, connection, pins }: McpToolOptions): Tool {
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
      // Whole, because some dialects show only the description.
      const given = Object.keys(input).length === 0 ? '' : ` The call: ${name} ${JSON.stringify(input)}`;
      return {
        kind: 'other',
        command: [name, JSON.stringify(input)],
        description: `Uses the tool ${definition.name} of the MCP server ${server}.${change}${given}`,
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
