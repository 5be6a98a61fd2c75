/** The tools of all configured MCP servers. The SDK is loaded only if there is a server. */
import type { Tool } from '../../core/ports/tool.ts';
import { type ConnectionOptions, McpConnection, type McpState, type McpTrouble } from './connection.ts';
import { toolNames } from './names.ts';
import type { McpServers } from './servers.ts';
import { mcpTool } from './tool.ts';

export type McpOptions = ConnectionOptions & {
  /** how long a start waits for servers, in milliseconds; later ones are added when they are ready */
  readonly patienceMs?: number;
};

/** Status of a server for operators. */
export type McpServerView = {
  readonly name: string;
  /** transport: a child process or an address */
  readonly kind: 'process' | 'address';
  readonly trusted: boolean;
  readonly state: McpState;
  /** names for models; while the server is away, those it listed last */
  readonly tools: readonly string[];
  readonly trouble: McpTrouble | null;
};

export type McpTools = {
  /** current tools; the same objects until they change */
  tools(): readonly Tool[];
  /** Current status of all configured servers. */
  servers(): McpServerView[];
  /** Calls the listener if a server connects or its tools change. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /** Stops all servers. */
  close(): Promise<void>;
};

const PATIENCE_MS = 10_000;

/** An unreachable server is logged and retried; it never prevents the start. */
export async function openMcp(servers: McpServers, options: McpOptions): Promise<McpTools> {
  const entries = Object.entries(servers).map(([name, server]) => ({
    name,
    kind: 'url' in server ? ('address' as const) : ('process' as const),
    trusted: server.trusted,
    tools: [] as readonly string[],
    connection: new McpConnection(name, server, options),
  }));
  const listeners = new Set<() => void>();
  let current: Tool[] = [];
  const renew = () => {
    const offers = entries.flatMap((entry) =>
      entry.connection.definitions.map((definition) => ({ ...entry, server: entry.name, definition })),
    );
    const names = toolNames(offers.map(({ server, definition }) => ({ server, tool: definition.name })));
    current = offers.map((offer, index) => mcpTool({ ...offer, name: names[index] ?? '' }));
    for (const entry of entries)
      entry.tools = names.filter((_, index) => offers[index]?.server === entry.name);
    for (const listener of listeners) listener();
  };
  for (const { connection } of entries) connection.onChange = renew;
  await within(
    options.patienceMs ?? PATIENCE_MS,
    Promise.all(entries.map((entry) => entry.connection.start())),
  );
  return {
    tools: () => current,
    servers: () =>
      entries.map(({ name, kind, trusted, tools, connection: { state, trouble } }) => ({
        name,
        kind,
        trusted,
        state,
        tools,
        trouble,
      })),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => void (await Promise.all(entries.map((entry) => entry.connection.close()))),
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
