/** `parlance mcp`: the Model Context Protocol on standard input and output. */
import { McpBridge } from './mcp/bridge.ts';
import { runStdio } from './stdio/run.ts';

const USAGE = `Usage: parlance mcp [--url URL [--token TOKEN]] [SETTING…]

Speaks the Model Context Protocol on standard input and output, for clients that start programs.

  --url URL      connect to a running server (or PARLANCE_URL)
  --token TOKEN  a token or an API key (or PARLANCE_TOKEN)

Without a URL, a server with the settings of parlance serve runs in this process, without a port.`;

export async function mcp(argv: string[]): Promise<number> {
  if (argv.some((argument) => argument === '--help' || argument === '-h')) {
    console.log(USAGE);
    return 0;
  }
  return runStdio(argv, (link, write) => new McpBridge(link, write));
}
