/** Paths of the dialects, with session and token in the form that a page can send. */
import type { Spoken } from './examples/index.ts';

export type Call = {
  readonly dialect: Spoken;
  /** '' for none */
  readonly session: string;
  readonly token: string | null;
  /** of the Pusher application */
  readonly key: string;
};

/** Path and query of the socket; for native, of its event stream; for copilot, the base of requests. */
export function addressOf({ dialect, session, token, key }: Call): string {
  if (dialect === 'copilot') return '/api';
  if (dialect === 'native') return `/v1/sessions/${encodeURIComponent(session)}/events`;
  const query = new URLSearchParams();
  if (dialect === 'pusher') {
    query.set('protocol', '7');
    query.set('client', 'playground');
    return `/app/${encodeURIComponent(key)}?${query}`;
  }
  if (session !== '') query.set('session', session);
  if (token !== null) query.set('token', token);
  const search = query.toString();
  return `/${dialect}${search === '' ? '' : `?${search}`}`;
}

/** For display: the token is redacted. */
export const shownAddress = (call: Call): string =>
  addressOf({ ...call, token: call.token === null ? null : 'TOKEN' }).replace('token=TOKEN', 'token=…');

/** Pages cannot set headers on a WebSocket, so the token goes into the query. */
export const socketUrl = (origin: string, call: Call): string =>
  `${origin.replace(/^http/, 'ws')}${addressOf(call)}`;
