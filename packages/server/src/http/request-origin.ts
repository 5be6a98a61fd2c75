/** The origin under which a client reaches the server, for absolute URLs in answers. */
import { type Bound, checkHost } from './origins.ts';

/**
 * The request has passed `checkHost`. Behind trusted `proxies`, X-Forwarded-Host and X-Forwarded-Proto count as well; a
 * forwarded host must pass the same check, because a proxy may let a client's own header through.
 */
export function requestOrigin(headers: Headers, bound: Bound, proxies: number): string {
  const forwarded = (name: string) =>
    proxies > 0 ? headers.get(name)?.split(',').slice(-proxies)[0]?.trim().toLowerCase() : undefined;
  const claimed = forwarded('x-forwarded-host');
  const isOurs = claimed !== undefined && checkHost(claimed, bound).ok;
  const host = isOurs ? claimed : (headers.get('host') ?? '').toLowerCase();
  const scheme = forwarded('x-forwarded-proto');
  if (scheme === 'http' || scheme === 'https') return `${scheme}://${host}`;
  // Only the operator knows of a proxy that adds TLS and is not trusted.
  const named = bound.allowedOrigins.find((origin) => origin === `https://${host}`);
  return named ?? `http://${host}`;
}
