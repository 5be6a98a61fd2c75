/** What the guide needs to know of this server, and the addresses derived from it. */
import type { About } from '@parlance/sdk';

export type ServerInfo = {
  /** origin of the page: `http://127.0.0.1:3000` */
  readonly origin: string;
  readonly listeners: About['listeners'];
  readonly auth: About['auth'];
  /** the current principal; `local` if nobody is logged in */
  readonly name: string;
};

export const serverInfoOf = (about: About, origin: string): ServerInfo => ({
  origin,
  listeners: about.listeners,
  auth: about.auth,
  name: about.principal.id,
});

export const socketAt = (origin: string, path: string): string => `${origin.replace(/^http/, 'ws')}${path}`;

/**
 * Addresses of extra listeners for a dialect. Empty if the page came over https: a proxy terminates TLS, and only its
 * operator knows which listeners it forwards.
 */
export function listenersOf(
  { origin, listeners }: ServerInfo,
  dialect: string,
  scheme: 'ws' | 'http',
): string[] {
  const { protocol, hostname } = new URL(origin);
  if (protocol !== 'http:') return [];
  return listeners
    .filter((listener) => listener.dialect === dialect)
    .map(({ port }) => `${scheme}://${hostname}:${port}`);
}
