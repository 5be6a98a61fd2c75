/** Where each dialect is spoken, and how a page names the session and shows its token there. */
import type { Spoken } from './examples/index.ts';

export type Call = {
  readonly dialect: Spoken;
  /** '' for none */
  readonly session: string;
  readonly token: string | null;
  /** of the Pusher application */
  readonly key: string;
};

/** The path and query of the socket; of native, which has none, that of its stream; of copilot, where requests go. */
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

/** As people are shown it: a token is nobody's to read. */
export const shownAddress = (call: Call): string =>
  addressOf({ ...call, token: call.token === null ? null : 'TOKEN' }).replace('token=TOKEN', 'token=…');

/** A page cannot set headers on a socket: a token goes into the address. */
export const socketUrl = (origin: string, call: Call): string =>
  `${origin.replace(/^http/, 'ws')}${addressOf(call)}`;
