/**
 * Which browser origins may call. Both checks must pass: an origin counts as our own if it equals the Host header, and
 * `checkHost` prevents a foreign name that resolves to our address (DNS rebinding) from being that header.
 */

export type BoundAddress = {
  /** address that the server listens on */
  readonly host: string;
  /** exact origins allowed by the operator */
  readonly allowedOrigins: readonly string[];
};

/** `reason` is one line for the log and the caller. */
export type Verdict = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const PASSED: Verdict = { ok: true };
const refused = (reason: string): Verdict => ({ ok: false, reason });
const shown = (value: string) => JSON.stringify(value.slice(0, 200));

const isIpv4 = (name: string) => /^\d{1,3}(\.\d{1,3}){3}$/.test(name);
const isIpv6 = (name: string) => /^\[[0-9a-f:.]+\]$/.test(name);
const isLoopback = (name: string) =>
  name === 'localhost' || name === '[::1]' || (isIpv4(name) && name.startsWith('127.'));
const isWildcard = (name: string) => name === '0.0.0.0' || name === '[::]';

/** The authority of a Host header or a listening address in URL form; null if it is invalid. */
function parseHost(host: string): URL | null {
  const bracketed = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(host) ? `[${host}]` : host;
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(bracketed)) return null;
  return URL.parse(`http://${bracketed}`);
}

const nameOf = (host: string) => parseHost(host)?.hostname ?? '';

function parseOrigin(origin: string): URL | null {
  const url = URL.parse(origin);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return url.origin === origin ? url : null;
}

/** Prevents DNS rebinding: the Host header must be a name that only we or the operator can have chosen. */
export function checkHost(host: string | null, bound: BoundAddress): Verdict {
  if (host === null) return refused('the request has no Host header');
  const name = nameOf(host);
  if (name === '') return refused(`Host ${shown(host)} is not a host`);
  const boundName = nameOf(bound.host);
  if (isLoopback(name)) return PASSED;
  if (name === boundName && !isWildcard(name)) return PASSED;
  if (isWildcard(boundName) && (isIpv4(name) || isIpv6(name))) return PASSED;
  if (bound.allowedOrigins.some((origin) => parseOrigin(origin)?.hostname === name)) return PASSED;
  return refused(
    `Host ${shown(host)} is not this server: to serve under that name, allow its origin with --origin or ALLOWED_ORIGINS`,
  );
}

/** Clients other than browsers send no Origin and pass. `host` is the Host header of the request. */
export function checkOrigin(origin: string | null, host: string | null, bound: BoundAddress): Verdict {
  if (origin === null) return PASSED;
  if (origin === 'null') return refused('Origin null is refused: serve the page from its own origin');
  if (bound.allowedOrigins.includes(origin)) return PASSED;
  const url = parseOrigin(origin);
  if (url !== null) {
    if (isLoopback(url.hostname) && isLoopback(nameOf(bound.host))) return PASSED;
    if (host !== null && parseHost(host) !== null && URL.parse(`${url.protocol}//${host}`)?.origin === origin)
      return PASSED;
  }
  return refused(
    `Origin ${shown(origin)} is not allowed: allow it in the console (Admin → Origins) or with --origin`,
  );
}
