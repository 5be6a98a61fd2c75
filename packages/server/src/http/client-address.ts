/** Determines the address of a client. */
import { isIP, isIPv6 } from 'node:net';

const addresses = new WeakMap<Request, string>();

export const rememberAddress = (request: Request, address: string): void => {
  addresses.set(request, address);
};

export const addressOf = (request: Request): string => addresses.get(request) ?? 'unknown';

/**
 * `peer` is the address of the connection. Behind trusted `proxies`, the client is the entry of
 * X-Forwarded-For that the outermost proxy wrote; entries to the left of it come from the client and are
 * ignored.
 */
export function clientAddress(headers: Headers, peer: string | undefined, proxies: number): string {
  const forwarded = headers.get('x-forwarded-for')?.split(',') ?? [];
  const claimed = proxies > 0 ? forwarded.at(-proxies)?.trim() : undefined;
  return network(claimed !== undefined && isIP(claimed) !== 0 ? claimed : (peer ?? 'unknown'));
}

/** An IPv6 client usually controls a whole /64 network, so addresses are grouped by it. */
function network(address: string): string {
  if (!isIPv6(address)) return address;
  // In one spelling, whatever the proxy wrote: compressed, lower case, without dots.
  const [head = [], tail] = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const groups =
    tail === undefined ? head : [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail];
  const isMapped = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff';
  if (!isMapped) return `${groups.slice(0, 4).join(':')}::/64`;
  const bytes = groups.slice(6).flatMap((group) => {
    const number = Number.parseInt(group, 16);
    return [number >> 8, number & 255];
  });
  return bytes.join('.');
}
