/** What the guide knows of this server, and the addresses that follow from it. */
import type { About } from '@parlance/sdk';

export type ServerInfo = {
  /** where the page came from: `http://127.0.0.1:3000` */
  readonly origin: string;
  readonly doors: About['doors'];
  readonly auth: About['auth'];
  readonly channels: About['channels'];
  /** who is looking; `local` where nobody is logged in */
  readonly name: string;
};

export const serverInfoOf = (about: About, origin: string): ServerInfo => ({
  origin,
  doors: about.doors,
  auth: about.auth,
  channels: about.channels,
  name: about.principal.id,
});

export const socketAt = ({ origin }: ServerInfo, path: string): string =>
  `${origin.replace(/^http/, 'ws')}${path}`;

/**
 * The addresses of doors that speak that dialect alone. None where the page came over https: somebody else ends the
 * encryption then, and only they know which doors they pass on.
 */
export function listenersOf({ origin, doors }: ServerInfo, dialect: string, scheme: 'ws' | 'http'): string[] {
  const { protocol, hostname } = new URL(origin);
  if (protocol !== 'http:') return [];
  return doors
    .filter((listener) => listener.dialect === dialect)
    .map(({ port }) => `${scheme}://${hostname}:${port}`);
}
