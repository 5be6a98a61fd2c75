/** Transport to a server: a child process or an address. */
import type { ChildProcess } from 'node:child_process';
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
  /** called when the process ends, with the end of a sentence: "ended with exit code 1" */
  readonly ended: (ending: string) => void;
};

/**
 * Starts nothing yet. The SDK passes HOME, LOGNAME, PATH, SHELL, TERM, USER and the server's own variables to
 * a process.
 */
export async function openTransport(
  { name, server, redact, keep, ended }: TransportSettings,
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
  const start = transport.start.bind(transport);
  transport.start = async () => {
    await start();
    // The SDK does not tell how the process ended.
    const child: ChildProcess | undefined = Reflect.get(transport, '_process');
    child?.once('exit', (code, signal) =>
      ended(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    );
  };
  return transport;
}
