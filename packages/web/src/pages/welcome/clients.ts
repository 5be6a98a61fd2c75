/** Connection instructions for each kind of client, from the dialect descriptions of the server. */
import type { About, Dialect, DialectList, DialectSnippet } from '@parlance/sdk';
import { addressOf } from '../playground/connection.ts';
import { type Filling, filled, filledPath } from '../playground/examples.ts';
import { curl, type Snippet, wscat } from '../timeline/shell-commands.ts';

export type Address = {
  readonly address: string;
  /** when the dialect is served there; null: always */
  readonly condition: string | null;
};

export type Client = {
  readonly dialect: string;
  readonly name: string;
  /** who uses it */
  readonly about: string;
  /** addresses to enter in the client */
  readonly addresses: readonly Address[];
  /** a common pitfall */
  readonly note: string | null;
  readonly snippets: readonly Snippet[];
};

/** The session that the commands use. */
export const DEMO = 'demo';

export const clientsOf = (server: ServerInfo, { ids, dialects }: DialectList): readonly Client[] =>
  dialects.map((dialect) => ({
    dialect: dialect.name,
    name: dialect.title,
    about: dialect.summary,
    addresses: addressesOf(server, dialect),
    note: dialect.socket?.elsewhere ? ELSEWHERE : dialect.note,
    snippets: dialect.snippets.map((snippet) =>
      snippetOf(snippet, { server, dialect, filling: { ids, known: { session: DEMO }, fresh: DEMO } }),
    ),
  }));

const ELSEWHERE =
  'An external server serves the sockets: clients connect there, and this server sends it the events.';

function addressesOf(server: ServerInfo, { name, socket, http }: Dialect): Address[] {
  const base = http.length === 0 ? [] : [server.origin, ...listenersOf(server, name, 'http')];
  return [...socketAddresses(server, name, socket), ...base.map(always)];
}

const always = (address: string): Address => ({ address, condition: null });

function socketAddresses(server: ServerInfo, name: string, socket: Dialect['socket']): Address[] {
  if (!socket) return [];
  const path = (address: string) =>
    address.replace(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(socket.params[param] ?? ''));
  const own = socket.addresses.map(({ address, condition }) => ({
    address: socketAt(socket.elsewhere ?? server.origin, path(address)),
    condition,
  }));
  if (socket.elsewhere) return own;
  // A dialect whose path has parameters is served at that path only.
  const [{ address: first } = { address: '' }] = socket.addresses;
  const suffix = first.includes('{') ? path(first) : '';
  return [...own, ...listenersOf(server, name, 'ws').map((listener) => always(`${listener}${suffix}`))];
}

type ClientContext = { readonly server: ServerInfo; readonly dialect: Dialect; readonly filling: Filling };

function snippetOf(snippet: DialectSnippet, { server, dialect, filling }: ClientContext): Snippet {
  const { title } = snippet;
  const { origin } = server;
  const needsToken = server.auth === 'required' || dialect.needsToken;
  const sockets = dialect.socket?.elsewhere ?? origin;
  switch (snippet.kind) {
    case 'socket':
      return wscat(title, {
        address: socketAt(sockets, addressOf({ dialect, session: DEMO, token: null })),
        needsToken: needsToken && dialect.socket?.anonymous === false,
        frames: snippet.frames.map((frame) => filled(frame, filling)),
      });
    case 'request':
      return curl(title, {
        method: snippet.method,
        address: `${origin}${filledPath(snippet.path, filling)}`,
        needsToken: needsToken || snippet.needsToken,
        body: snippet.body === null ? undefined : filled(snippet.body, filling),
        stream: snippet.stream,
      });
    case 'script': {
      const values: Readonly<Record<string, string>> = { ...dialect.socket?.params, origin, sockets };
      const code = snippet.code.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
      return { title, language: snippet.language, code, needsToken: false };
    }
  }
}

// What the guide needs to know of this server, and the addresses derived from it.

export type ServerInfo = {
  /** origin of the page: `http://127.0.0.1:3000` */
  readonly origin: string;
  readonly listeners: About['listeners'];
  readonly auth: About['auth'];
  /** the current principal; `local` if nobody is logged in */
  readonly name: string;
};

export const serverInfoOf = (about: About, origin: string): ServerInfo => ({
  origin,
  listeners: about.listeners,
  auth: about.auth,
  name: about.principal.id,
});

const socketAt = (origin: string, path: string): string => `${origin.replace(/^http/, 'ws')}${path}`;

/**
 * Addresses of extra listeners for a dialect. Empty if the page came over https: a proxy terminates TLS, and only its
 * operator knows which listeners it forwards.
 */
export function listenersOf(
  { origin, listeners }: ServerInfo,
  dialect: string,
  scheme: 'ws' | 'http',
): string[] {
  const { protocol, hostname } = new URL(origin);
  if (protocol !== 'http:') return [];
  return listeners
    .filter((listener) => listener.dialect === dialect)
    .map(({ port }) => `${scheme}://${hostname}:${port}`);
}
