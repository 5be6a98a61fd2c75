/** The tools of all configured MCP servers. The SDK is loaded only if there is a server. */
import type { SettingsStore } from '../../core/ports/settings.ts';
import type { Tool } from '../../core/ports/tool.ts';
import { type ConnectionOptions, McpConnection, type McpError, type McpState } from './connection.ts';
import { toolNames } from './names.ts';
import { openPins } from './pins.ts';
import type { McpServer, McpServers } from './servers.ts';
import { mcpTool } from './tool.ts';

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
  const listeners = new Set<() => void>();
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
    for (const listener of listeners) listener();
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
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    configure,
    async restart(name) {
      if (!entries.some((entry) => entry.name === name)) return false;
      await change(entries.map((entry) => (entry.name === name ? started(name, entry.server) : entry)));
      return true;
    },
    close: async () => void (await Promise.all(entries.map((entry) => entry.connection.close()))),
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
