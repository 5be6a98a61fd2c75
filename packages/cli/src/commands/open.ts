/** `parlance open`: the console in the browser. */

import { CommandError, parseFlags, printStderr, SWITCH } from '../command.ts';
import { isParlance, noServer, SERVER_FLAGS, SERVER_HELP, serverAddress } from '../connection/address.ts';
import { consoleAddress, openInBrowser } from '../connection/browser.ts';

const USAGE = `Usage: parlance open [SESSION]

Opens the console in the browser, or a session in it. Prints the address if there is no browser,
such as over SSH.

  --print        only print the address

${SERVER_HELP}`;

export async function open(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, { ...SERVER_FLAGS, print: SWITCH });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const [session = null, extra] = positionals;
  if (extra !== undefined) throw new CommandError('open takes only one session', 2);
  const server = await serverAddress(values);
  if (!server) throw noServer();
  const { url } = server;
  if (!(await isParlance(server))) throw new CommandError(`cannot reach ${url}`, 4);
  const address = consoleAddress(url, session);
  if (!values.print && (await openInBrowser(address))) {
    printStderr(`opened ${address}`);
    return 0;
  }
  console.log(address);
  return 0;
}
