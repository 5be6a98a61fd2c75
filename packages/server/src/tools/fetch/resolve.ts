/** From the host of a page to the addresses that may be connected to. Asked once: what was checked is what is used. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Fault } from '@parlance/protocol';
import { isPublicAddress } from './special-ranges.ts';

export type Resolve = (host: string) => Promise<readonly string[]>;

export type ResolveOptions = {
  readonly resolve?: Resolve;
  /** Further addresses that may be fetched from. Only tests, whose sites are on this machine, have a use for it. */
  readonly allow?: (address: string) => boolean;
};

const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** Without the brackets of an address of IPv6. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

/** Throws a `Fault` where one address of the host is not public: a name that mixes them is a trap or a mistake. */
export async function checkedAddresses(
  url: URL,
  { resolve = resolveHost, allow }: ResolveOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await unlessAborted(found(host, resolve), signal) : [host];
  if (addresses.length === 0) throw new Fault('tool_failed', 'The host of the address is not known.');
  if (!addresses.every((address) => isPublicAddress(address) || (allow?.(address) ?? false))) {
    throw new Fault('tool_failed', 'The address leads into a private or special network: it is not fetched.');
  }
  return addresses;
}

const found = (host: string, resolve: Resolve): Promise<readonly string[]> =>
  resolve(host).catch((cause) => {
    throw new Fault('tool_failed', 'The host of the address is not known.', { cause });
  });

/** A question to a name server cannot be taken back, but its answer need not be waited for. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}
