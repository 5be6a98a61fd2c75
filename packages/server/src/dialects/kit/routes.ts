/** Finds the dialect of an address, from the `listen` entries. */

import { isObject } from '@parlance/protocol';
import type { Connection, Socket } from '../../http/connection.ts';
import { mayUseDialect } from '../../http/dialect-scope.ts';
import type { Dialect, Inbound } from './dialect.ts';
import { httpRoutes, type SocketRoute, socketRoutes } from './dialect.ts';

/** A dialect in a running server. */
export type ServedDialect = { readonly dialect: Dialect; readonly inbound: Inbound };

type Params = Readonly<Record<string, string>>;

/** Opens a socket at an address. */
export type SocketTarget = {
  readonly open: (socket: Socket) => Connection;
  readonly anonymous: boolean;
  /** an invalid token counts as a missing one */
  readonly admitsBadToken: boolean;
  /** in open mode, a key that this server cannot have issued counts as none */
  readonly vendorKey: boolean;
  /** the headers to add to the parameters */
  readonly headers: readonly string[];
  readonly idHeader: string | undefined;
  /** absent if the route has no parameters */
  readonly params: Params | undefined;
};

/** Null if no socket is served at the address. */
export type SocketRouter = (url: URL, hasToken: boolean) => SocketTarget | null;

/** The default listener: every dialect at its own paths. */
export function socketRouter(served: readonly ServedDialect[]): SocketRouter {
  const candidates = served.flatMap(candidatesOf);
  const paths = new Map(
    candidates.map(({ route }) => {
      const here = candidates.filter((other) => other.route.ws === route.ws);
      const applying = (token: boolean) =>
        here.filter(({ route: { when } }) => when === undefined || when.token === token);
      return [route.ws, { withToken: pathTarget(applying(true)), noToken: pathTarget(applying(false)) }];
    }),
  );
  return (url, hasToken) => {
    for (const { withToken, noToken } of paths.values()) {
      const target = (hasToken ? withToken : noToken)?.(url);
      if (target) return target;
    }
    return null;
  };
}

/**
 * An extra listener: one dialect at any path. A dialect whose paths have parameters is served at those paths
 * only. `when` and `firstFrame` are ignored, because there is no other dialect.
 */
export function listenerRouter(served: ServedDialect): SocketRouter {
  const candidates = candidatesOf(served).filter(({ route }) => route.refuse === undefined);
  const targets = candidates.map((candidate) => pathTarget([candidate]));
  const anywhere = candidates.find(({ route }) => !route.ws.includes(':'));
  return (url) => {
    for (const target of targets) {
      const found = target?.(url);
      if (found) return found;
    }
    return anywhere ? { open: anywhere.open, ...admissionOf(anywhere.route), params: undefined } : null;
  };
}

function candidatesOf({ dialect, inbound }: ServedDialect): Candidate[] {
  const { open } = inbound;
  if (!open) return [];
  const named = (socket: Socket): Connection => {
    socket.setDialect(dialect.name);
    return socket.principal && !mayUseDialect(socket.principal, dialect.name)
      ? limited(socket)
      : open(socket);
  };
  return socketRoutes(dialect.listen).map((route) => ({ route, open: named }));
}

/** Refuses a socket whose API key is limited to other dialects. */
const limited = (socket: Socket): Connection => ({
  opened: () => socket.close(1008, 'The API key is limited to other dialects'),
  receive: () => undefined,
  onInvalidFrame: () => undefined,
  closed: () => undefined,
  draining: () => undefined,
});

/** The dialects served at one path, all with the same `ws`. */
function pathTarget(candidates: readonly Candidate[]): ((url: URL) => SocketTarget | null) | null {
  const open = openAt(candidates);
  const route = candidates.find((candidate) => candidate.route.refuse === undefined)?.route;
  if (!open || !route) return null;
  const pattern = patternOf(route.ws);
  const admission = admissionOf(route);
  return (url) => {
    const match = pattern.exec(url.pathname);
    return match && { open, ...admission, params: paramsOf(route, match.groups, url.searchParams) };
  };
}

const admissionOf = ({ anonymous = false, badToken, vendorKey, headers = [], idHeader }: SocketRoute) => ({
  anonymous,
  admitsBadToken: badToken === 'anonymous',
  vendorKey: vendorKey === true,
  headers,
  idHeader,
});

/** `/app/:key` as a pattern with a group `key`. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`);

function paramsOf(
  { query = [] }: SocketRoute,
  groups: Params | undefined,
  search: URLSearchParams,
): Params | undefined {
  const given = query.flatMap((name) => {
    const value = search.get(name);
    return value === null ? [] : [[name, value]];
  });
  return groups === undefined && given.length === 0 ? undefined : { ...Object.fromEntries(given), ...groups };
}

/** The dialect that owns an HTTP path: the first that lists it. `path` comes from `httpRouter`. */
export const httpOwner = (dialects: readonly Dialect[], path: string): Dialect | undefined =>
  dialects.find(({ listen }) => httpRoutes(listen).some(({ http, when }) => !when && covers(http, path)));

/** Returns the path to route a request by: its headers may select the dialect. */
export type HttpRouter = (path: string, headers: Headers) => string;

export function httpRouter(dialects: readonly Dialect[]): HttpRouter {
  const chosen = dialects.flatMap(({ listen }) =>
    httpRoutes(listen).flatMap(({ http, when }) => (when ? [{ http, ...when }] : [])),
  );
  const same = new Map(
    dialects.flatMap(({ listen }) =>
      httpRoutes(listen).flatMap(({ http, sameAs }) =>
        sameAs === undefined ? [] : [[http, sameAs] as const],
      ),
    ),
  );
  return (asked, headers) => {
    const path = same.get(asked) ?? asked;
    const route = chosen.find(({ http, header }) => covers(http, path) && headers.has(header));
    return route ? prefixOf(route.as) + path.slice(prefixOf(route.http).length) : path;
  };
}

const prefixOf = (route: string): string => (route.endsWith('/*') ? route.slice(0, -'/*'.length) : route);

function covers(route: string, path: string): boolean {
  const prefix = prefixOf(route);
  return path === prefix || (prefix !== route && path.startsWith(`${prefix}/`));
}

// Several dialects at one WebSocket path: the first frame selects one.

/** A route, and the function that opens a socket in its dialect. */
type Candidate = { readonly route: SocketRoute; readonly open: (socket: Socket) => Connection };

/** The function that opens a socket at a path with these candidates; null if none is served. */
function openAt(candidates: readonly Candidate[]): ((socket: Socket) => Connection) | null {
  const served = candidates.filter(({ route }) => route.refuse === undefined);
  const refused = candidates.filter(({ route }) => route.refuse !== undefined).map(({ route }) => route);
  const [only, ...others] = served;
  if (!only) return null;
  if (others.length > 0) return (socket) => refusing(refused, socket, detected(served, socket));
  return refused.length === 0 ? only.open : (socket) => refusing(refused, socket, only.open(socket));
}

/** The first candidate that knows the frame; otherwise the one that takes any frame. */
function candidateFor(candidates: readonly Candidate[], frame: unknown): Candidate | undefined {
  return (
    candidates.find(({ route }) => knows(route, frame)) ??
    candidates.find(({ route }) => route.firstFrame === undefined) ??
    candidates.at(-1)
  );
}

const knows = ({ firstFrame }: SocketRoute, frame: unknown): boolean =>
  isObject(frame) && typeof frame.type === 'string' && firstFrame?.has(frame.type) === true;

/** Opens the dialect when the first frame arrives. No candidate sends anything before it. */
function detected(candidates: readonly Candidate[], socket: Socket): Connection {
  let chosen: Connection | null = null;

  async function select(frame: unknown): Promise<Connection> {
    if (chosen) return chosen;
    const candidate = candidateFor(candidates, frame);
    if (!candidate) throw new Error('no dialect is served at this path');
    chosen = candidate.open(socket);
    await chosen.opened?.();
    return chosen;
  }

  return {
    receive: async (frame, arrivedAt) => (await select(frame)).receive(frame, arrivedAt),
    onInvalidFrame: async (reason) => (await select(undefined)).onInvalidFrame(reason),
    onRateLimited: (fault) => chosen?.onRateLimited?.(fault),
    identified: () => chosen?.identified?.() ?? null,
    closed: (unsent, code) => chosen?.closed(unsent, code),
    draining: () => chosen?.draining(),
  };
}

/** Disconnects a client whose first frame belongs to a dialect that is refused at this path. */
function refusing(refused: readonly SocketRoute[], socket: Socket, connection: Connection): Connection {
  if (refused.length === 0) return connection;
  let isFirst = true;
  return {
    ...connection,
    receive(frame, arrivedAt) {
      const refusal = isFirst ? refused.find((route) => knows(route, frame)) : undefined;
      if (refusal) return socket.close(1008, refusal.refuse ?? '');
      isFirst = false;
      return connection.receive(frame, arrivedAt);
    },
  };
}
