/** Decides by Host and Origin whether a request is accepted, on every listener and method. */
import type { Log } from '../core/ports/telemetry.ts';
import { type BoundAddress, checkHost, checkOrigin } from './origins.ts';
import { isPlainOrigin, type RefusedOrigins } from './refused-origins.ts';

/** Maximum number of refused origins to log; beyond it they are most likely forged. */
const MAX_LOGGED = 1_000;

export type OriginPolicy = {
  readonly log: Log;
  /** whether to accept a request of an origin that the operator has not allowed */
  readonly paired?: (request: Request, origin: string) => Promise<boolean>;
  readonly refused?: RefusedOrigins;
};

/** Returns null if the request is accepted, otherwise the reason. Logs each refused origin once. */
export function originPolicy(
  bound: BoundAddress,
  { log, paired = async () => false, refused }: OriginPolicy,
): (request: Request) => string | null | Promise<string | null> {
  const logged = new Set<string>();
  /** Most requests have the same Host as the previous one. */
  let last = checkedHost(null, bound);

  function logOnce(origin: string, reason: string): void {
    if (logged.has(origin) || logged.size >= MAX_LOGGED) return;
    logged.add(origin);
    log.warn({ origin: origin.slice(0, 200) }, `${reason}${valueFor(origin)}`);
  }

  return (request) => {
    const host = request.headers.get('host');
    if (host !== last.host || bound.allowedOrigins !== last.allowed) last = checkedHost(host, bound);
    const origin = request.headers.get('origin');
    if (host === null && origin === null && isProbe(request)) return null;
    if (!last.verdict.ok) return last.verdict.reason;
    const originVerdict = checkOrigin(origin, host, bound);
    if (originVerdict.ok) return null;
    if (origin === null) return originVerdict.reason;
    return unlessPaired(request, origin, originVerdict.reason);
  };

  async function unlessPaired(request: Request, origin: string, reason: string): Promise<string | null> {
    if (await paired(request, origin)) return null;
    refused?.record(origin);
    logOnce(origin, reason);
    return reason;
  }
}

/** Health checks over HTTP/1.0 may have no Host header, which browsers always send. Bun makes the URL a path then. */
const isProbe = ({ method, url }: Request): boolean =>
  (method === 'GET' || method === 'HEAD') && /^\/(?:health|ready)(?:\?|$)/.test(url);

const checkedHost = (host: string | null, bound: BoundAddress) => ({
  host,
  allowed: bound.allowedOrigins,
  verdict: checkHost(host, bound),
});

/** The value of `--origin`, with which the reason ends. */
function valueFor(origin: string): string {
  if (!isPlainOrigin(origin)) return '';
  const value = ` ${origin}`;
  const isExtension = /^(?:chrome|moz)-extension:/.test(origin);
  return isExtension ? `${value}; the Parlance extension is paired instead: open its side panel` : value;
}
