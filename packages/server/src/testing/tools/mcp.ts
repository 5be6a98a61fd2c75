/** Shared parts of the MCP tests: servers, a recording log, and tools by name. */
import { join } from 'node:path';
import { isObject } from '@parlance/protocol';
import { vaultOf } from '../../accounts/seal.ts';
import type { SettingsStore } from '../../accounts/store.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import type { Tool } from '../../core/ports/tool.ts';
import { type McpOptions, type McpTools, openMcp } from '../../tools/mcp/open.ts';
import { McpServers } from '../../tools/mcp/servers.ts';
import { memorySettings } from '../stores/memory/settings.ts';
import { waitLimit } from '../until.ts';

/** The program of a package, run as its `bin` entry would be. */
function programOf(packageName: string): string {
  const manifest = Bun.resolveSync(`${packageName}/package.json`, import.meta.dir);
  const { bin } = require(manifest) as { bin: Record<string, string> };
  return join(manifest, '..', Object.values(bin)[0] ?? '');
}

export const EVERYTHING = programOf('@modelcontextprotocol/server-everything');
export const FILESYSTEM = programOf('@modelcontextprotocol/server-filesystem');
export const MISBEHAVING = join(import.meta.dir, 'mcp-server.ts');

export type OpenedTools = McpTools &
  AsyncDisposable & { named(name: string): Tool; readonly lines: string[] };

/** Uses a short restart delay, so that tests need not wait. */
export async function opened(
  servers: unknown,
  pauseMs = 20,
  settings: SettingsStore = settingsInMemory(),
  more: Pick<McpOptions, 'clientDocument'> = {},
): Promise<OpenedTools> {
  const lines: string[] = [];
  const mcp = await openMcp(McpServers.parse(servers), {
    log: remembering(lines),
    settings,
    vault: vaultOf(new Uint8Array(32)),
    pauseMs,
    ...more,
    patienceMs: 20_000,
  });
  return {
    ...mcp,
    lines,
    named(name) {
      const tool = mcp.tools().find((candidate) => candidate.name === name);
      if (!tool) throw new Error(`no tool ${name}`);
      return tool;
    },
    [Symbol.asyncDispose]: () => mcp.close(),
  };
}

export function settingsInMemory(): SettingsStore {
  const { read, write } = memorySettings(() => undefined);
  return { read: async (name) => read(name), write: async (...change) => write(...change) };
}

function remembering(lines: string[]): Log {
  const keep = (data: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(plain(data))}`);
  return { debug: keep, info: keep, warn: keep, error: keep };
}

/** Errors have no enumerable fields for JSON. */
const plain = (data: object): object =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, isObject(value) ? Bun.inspect(value) : value]),
  );

export async function eventually<Value>(look: () => Promise<Value | false> | Value | false): Promise<Value> {
  for (const start = Date.now(); Date.now() - start < waitLimit(); await Bun.sleep(10)) {
    const seen = await look();
    if (seen !== false) return seen;
  }
  throw new Error('the condition was not met');
}
