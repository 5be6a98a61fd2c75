/** Checks the address with which a client opens a socket. */
import { CODES } from './protocol.ts';
import type { PusherServer } from './server.ts';

/** From `/app/{key}?protocol=7&client=js&version=…`. */
export type Handshake = { readonly key: string; readonly protocol: string | null };

/** For a server, protocols 5 and 6 are the same as 7. */
const PROTOCOLS = new Set(['5', '6', '7']);

/** The close code and reason if the client is refused, or null. */
export function problemWith(
  { key, protocol }: Handshake,
  { application }: PusherServer,
): [number, string] | null {
  if (key !== application.key) return [CODES.unknownKey, 'Application does not exist'];
  if (protocol === null) return [CODES.noVersion, 'No protocol version supplied'];
  if (!/^\d{1,9}$/.test(protocol)) return [CODES.badVersion, 'Invalid version string format'];
  return PROTOCOLS.has(protocol) ? null : [CODES.unsupportedVersion, 'Unsupported protocol version'];
}
