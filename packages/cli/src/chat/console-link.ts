/** `/open`: the session in the console. */
import { openInBrowser } from '../connection/browser.ts';
import type { Connection } from '../connection/open.ts';

/** The address of the console, or of a session in it. */
export const consoleAddress = (url: string, session: string | null): string =>
  session === null ? `${url}/` : `${url}/#/sessions/${encodeURIComponent(session)}`;

/** A sentence for the user. */
export async function consoleNotice({ url }: Connection, session: string | null): Promise<string> {
  if (url === null) return 'The console needs a server: start it with parlance serve.';
  const address = consoleAddress(url, session);
  return (await openInBrowser(address)) ? `Opened ${address}` : `Open ${address} in a browser.`;
}
