/** Opens an address in the user's browser, such as a session in the console. */
import type { Connection } from './open.ts';

/** False if no browser can be opened: over SSH, or without a display. */
export async function openInBrowser(address: string): Promise<boolean> {
  const command = openerOf(process.env, process.platform);
  if (command === null) return false;
  try {
    const child = Bun.spawn([...command, address], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' });
    return (await child.exited) === 0;
  } catch {
    // The program cannot be started.
    return false;
  }
}

function openerOf(env: Readonly<Record<string, string | undefined>>, platform: string): string[] | null {
  const named = env.BROWSER?.split(':', 1)[0] ?? '';
  if (named !== '') return Bun.which(named) ? [named] : null;
  if (platform === 'darwin') return env.SSH_CONNECTION ? null : ['open'];
  if (env.SSH_CONNECTION || !(env.DISPLAY || env.WAYLAND_DISPLAY)) return null;
  return Bun.which('xdg-open') ? ['xdg-open'] : null;
}

// `/open`: the session in the console.

/** The address of the console, or of a session in it. */
export const consoleAddress = (url: string, session: string | null): string =>
  session === null ? `${url}/` : `${url}/#/sessions/${encodeURIComponent(session)}`;

/** A sentence for the user. */
export async function consoleNotice({ url }: Connection, session: string | null): Promise<string> {
  if (url === null) return 'The console needs a server: start it with parlance serve.';
  const address = consoleAddress(url, session);
  return (await openInBrowser(address)) ? `Opened ${address}` : `Open ${address} in a browser.`;
}
