/** The address of a dialect, with session and token in the form that a page can send. */
import type { Dialect } from '@parlance/sdk';

export type Call = {
  readonly dialect: Pick<Dialect, 'socket' | 'transport' | 'http'>;
  /** '' for none */
  readonly session: string;
  readonly token: string | null;
  /** of the path; default: those of the dialect */
  readonly params?: Readonly<Record<string, string>>;
};

/** Path and query of the socket; of a dialect without one the path of its events, or of its requests. */
export function addressOf({ dialect, session, token, params = {} }: Call): string {
  const { socket, transport, http } = dialect;
  if (transport === 'commands') return `/v1/sessions/${encodeURIComponent(session)}/events`;
  if (!socket) return (http[0] ?? '/').replace(/\/\*$/, '');
  const values = { ...socket.params, ...params };
  const path = (socket.addresses[0]?.address ?? '/').replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  const query = new URLSearchParams(socket.query);
  if (!socket.anonymous && session !== '') query.set('session', session);
  if (!socket.anonymous && token !== null) query.set('token', token);
  const search = query.toString();
  return search === '' ? path : `${path}?${search}`;
}

/** For display: the token is redacted. */
export const shownAddress = (call: Call): string =>
  addressOf({ ...call, token: call.token === null ? null : 'TOKEN' }).replace('token=TOKEN', 'token=…');

/** Pages cannot set headers on a WebSocket, so the token goes into the query. */
export const socketUrl = (origin: string, call: Call): string =>
  `${origin.replace(/^http/, 'ws')}${addressOf(call)}`;
