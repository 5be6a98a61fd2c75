/** Transport to a server: a child process or an address. */
import type { Readable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/client';
import type { Log } from '../../core/ports/logger.ts';
import type { Redact } from './secrets.ts';
import type { McpServer } from './servers.ts';
import { logStderr } from './stderr.ts';

export type TransportSettings = {
  readonly name: string;
  readonly server: McpServer;
  readonly redact: Redact;
  /** receives every logged line of stderr */
  readonly keep: (line: string) => void;
};

/**
 * Starts nothing yet. The SDK passes HOME, LOGNAME, PATH, SHELL, TERM, USER and the server's own variables to
 * a process.
 */
export async function openTransport(
  { name, server, redact, keep }: TransportSettings,
  log: Log,
): Promise<Transport> {
  if ('url' in server) {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    return new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: server.headers },
    });
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { command, args, env, cwd } = server;
  const transport = new StdioClientTransport({ command, args, env, stderr: 'pipe', ...(cwd ? { cwd } : {}) });
  if (transport.stderr) logStderr(transport.stderr as Readable, { server: name, redact, keep }, log);
  return transport;
}
