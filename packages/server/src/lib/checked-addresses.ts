/**
 * Resolves the host of an address that a model or a client has named, once: the checked addresses are the ones that are used.
 */
import { lookup } from 'node:dns/promises';
import { isIP, isIPv6, type LookupFunction } from 'node:net';
import { Fault } from '@parlance/protocol';
import { isPublicAddress } from './special-ranges.ts';
import { unlessAborted } from './unless-aborted.ts';

export type Resolve = (host: string) => Promise<readonly string[]>;

export type ResolveOptions = {
  readonly resolve?: Resolve;
  /** further allowed addresses, for tests whose sites run on this machine, or because a setting allows them */
  readonly allow?: (address: string) => boolean;
};

const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** Without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

/** Throws a `Fault` if any address of the host is not public. */
export async function checkedAddresses(
  url: URL,
  { resolve = resolveHost, allow }: ResolveOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = hostOf(url);
  // A DNS query cannot be cancelled, but its result can be ignored.
  const addresses = isIP(host) === 0 ? await unlessAborted(found(host, resolve), signal) : [host];
  if (addresses.length === 0) throw new Fault('tool_failed', 'The host of the address is unknown.');
  if (!addresses.every((address) => isPublicAddress(address) || (allow?.(address) ?? false))) {
    throw new Fault('tool_failed', 'The address belongs to a private or special network and is not fetched.');
  }
  return addresses;
}

const found = (host: string, resolve: Resolve): Promise<readonly string[]> =>
  resolve(host).catch((cause) => {
    throw new Fault('tool_failed', 'The host of the address is unknown.', { cause });
  });

/** For `node:http`: connects to these addresses only, even if a name server responds differently later. */
export const pinned = (addresses: readonly string[]): LookupFunction => {
  const known = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const [first] = known;
  return (_host, { all }, answer) => {
    if (all) answer(null, known);
    else answer(null, first?.address ?? '', first?.family);
  };
};
