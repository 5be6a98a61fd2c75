/**
 * The pages of the server that the extension is paired with. Agents approve nothing themselves, so the extension neither reads
 * nor uses them, whatever the person has allowed and however the address is written.
 */
import { isAddressOf, placeOf } from './sites.ts';
import { connection, serverPorts } from './storage.ts';

/** For the model and the person. */
export const OWN_SERVER =
  'This page belongs to the Parlance server itself. Browser tools and tasks never open, read or use it: only the user works there. Continue on another site.';

/** How long the list of listeners is used. Admins open and close them while the server runs. */
const FRESH_MS = 5_000;

/** Whether the address is one of the paired server: any spelling, any of its listeners. */
export async function isOwnServer(address: string | null | undefined): Promise<boolean> {
  if (!address) return false;
  const { url, ...now } = await connection.get();
  if (isAddressOf(address, { url, ports: [] })) return true;
  if (placeOf(address)?.name !== placeOf(url)?.name || !('token' in now)) return false;
  return isAddressOf(address, { url, ports: await portsOf(url, now.token) });
}

/** If the server does not answer, the ports that it had last. */
async function portsOf(url: string, token: string): Promise<readonly number[]> {
  const known = await serverPorts.get();
  if (known?.url === url && Date.now() - known.at < FRESH_MS) return known.ports;
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/v1/server`, { headers, signal: AbortSignal.timeout(FRESH_MS) });
    const { listeners } = (await response.json()) as { listeners: readonly { readonly port: number }[] };
    const ports = listeners.map(({ port }) => port);
    await serverPorts.set({ url, ports, at: Date.now() });
    return ports;
  } catch {
    return known?.url === url ? known.ports : [];
  }
}
