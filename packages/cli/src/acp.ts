/** `parlance acp`: the Agent Client Protocol on standard input and output, for editors. */
import { AcpPipe } from './acp/pipe.ts';
import { runStdio } from './stdio/run.ts';

const HELP = `Usage: parlance acp [--url URL] [--token TOKEN] [settings of parlance serve]

Speaks the Agent Client Protocol on standard input and output, for editors.

  --url URL      a running server (PARLANCE_URL). Sessions are that server's, and turns go on there when the editor
                 is closed. Without it an agent runs in this process, with the settings of parlance serve
  --token TOKEN  a token or an API key for that server (PARLANCE_TOKEN)`;

export async function acp(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    console.log(HELP);
    return 0;
  }
  return runStdio(argv, (link, write) => new AcpPipe(link, write));
}
