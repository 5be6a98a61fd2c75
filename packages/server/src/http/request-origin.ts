/** The origin under which a client reaches the server, for absolute URLs in responses. */
import { type BoundAddress, checkHost } from './origins.ts';

/**
 * The request must have passed `checkHost`. Behind trusted `proxies`, X-Forwarded-Host and X-Forwarded-Proto
 * apply as well; a forwarded host must pass the same check, because a proxy may forward a client's own
 * header.
 */
export function requestOrigin(headers: Headers, bound: BoundAddress, proxies: number): string {
  const forwarded = (name: string) =>
    proxies > 0 ? headers.get(name)?.split(',').slice(-proxies)[0]?.trim().toLowerCase() : undefined;
  const claimed = forwarded('x-forwarded-host');
  const isOurs = claimed !== undefined && checkHost(claimed, bound).ok;
  const host = isOurs ? claimed : (headers.get('host') ?? '').toLowerCase();
  const scheme = forwarded('x-forwarded-proto');
  if (scheme === 'http' || scheme === 'https') return `${scheme}://${host}`;
  // A proxy that adds TLS but is not trusted is known only from the operator's origins.
  const named = bound.allowedOrigins.find((origin) => origin === `https://${host}`);
  return named ?? `http://${host}`;
}
