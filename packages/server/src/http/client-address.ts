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
  const mapped = address.match(/^::ffff:(\d+\.\d+\.\d+\.\d+)$/i)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = '', tail] = address.toLowerCase().replace(/%.*/, '').split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const after = tail?.split(':').filter((group) => group !== '') ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0');
  const all = tail === undefined ? groups : [...groups, ...zeros, ...after];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
