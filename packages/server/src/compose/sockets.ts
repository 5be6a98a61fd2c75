/** WebSocket transport and handshake. */
import { asFault, type ConnectionId } from '@parlance/protocol';
import { tokenRevocation } from '../accounts/held-streams.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../core/index.ts';
import type { SocketRouter, SocketTarget } from '../dialects/kit/routes.ts';
import type { Authenticator } from '../http/authenticator.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Opening } from '../http/dialect-socket.ts';
import { requestIdOf } from '../http/request-id.ts';
import { callerOf, identify, tokenOf, vendorTokenOf } from '../http/request-identity.ts';
import { type SocketTransport, socketTransport } from '../http/websocket.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export type TransportParts = {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly anonymous: ByteBudget;
};

export const openTransport = (config: Config, { log, metrics, anonymous }: TransportParts): SocketTransport =>
  socketTransport(
    {
      ...config,
      frameBytes: config.maxFrame,
      firstFrameBytes: Math.min(config.maxFirstFrame, config.maxFrame),
      idleSeconds: 120,
      unsentBytes: 16 * 1024 * 1024,
      heldCharacters: config.heldCharacters,
    },
    { log, meter: metrics, anonymous },
  );

export type HandshakeParts = {
  readonly authenticator: Authenticator;
  readonly log: Log;
  readonly router: SocketRouter;
  /** index of the listener */
  readonly listener: number;
};

/**
 * Null if no socket is served at the address. Creates no closure, since it would keep the request alive as
 * long as the socket.
 */
export async function openingOf(
  request: Request,
  address: string,
  { authenticator, log, router, listener }: HandshakeParts,
): Promise<Opening | null> {
  const url = new URL(request.url);
  const sent = tokenOf(request);
  const target = router(url, sent !== null);
  if (!target) return null;
  const token = target.vendorKey ? vendorTokenOf(authenticator, request) : sent;
  const id = crypto.randomUUID() as string as ConnectionId;
  const { open: accept, idHeader } = target;
  const params = withHeaders(target, request.headers);
  const session = target.anonymous ? null : url.searchParams.get('session');
  const origin = request.headers.get('origin');
  const opening = { id, idHeader, principal: null, session, origin, params, listener, address };
  if (target.anonymous) return { ...opening, unknown: !authenticator.open, mayStay: true, accept };
  try {
    const principal = await identify(authenticator, token, callerOf(request, address));
    const onTokenRevoked =
      token === null ? undefined : tokenRevocation(authenticator, token, principal ?? undefined);
    return { ...opening, principal, unknown: principal === null, onTokenRevoked, accept };
  } catch (thrown) {
    const ids = { request: requestIdOf(request), connection: id };
    if (['storage_unavailable', 'internal'].includes(asFault(thrown).code)) {
      log.error({ ...ids, err: thrown }, 'failed to verify token');
      return {
        ...opening,
        accept: { code: 1013, reason: 'The token cannot be verified now: reconnect later' },
      };
    }
    log.info({ ...ids, reason: String(thrown) }, 'socket rejected: invalid token');
    if (target.admitsBadToken) return { ...opening, unknown: true, accept };
    return { ...opening, accept: { code: 1008, reason: 'Invalid token' } };
  }
}

function withHeaders({ params, headers }: SocketTarget, sent: Headers): SocketTarget['params'] {
  const given = headers.flatMap((name) => {
    const value = sent.get(name);
    return value === null ? [] : [[name, value.slice(0, MAX_HEADER)]];
  });
  return given.length === 0 ? params : { ...params, ...Object.fromEntries(given) };
}

/** A socket keeps the headers that its route names as long as it is open. */
const MAX_HEADER = 1_000;
