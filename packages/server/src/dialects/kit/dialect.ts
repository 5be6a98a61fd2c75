/**
 * A client protocol. Each has a folder with the same file names and one line in the
 * index. Routing, protocol detection, extra listeners, descriptions and the shared test suites are derived from
 * its descriptor.
 */
import { asFault, type Fault } from '@parlance/protocol';
import type { z } from 'zod';
import type { DecisionStore, PreferenceStore } from '../../accounts/store.ts';
import type { Agent, CustomModules, Domain, Engine, Figures, Log, WebhookStore } from '../../core/index.ts';
import type { Authenticator } from '../../http/authenticator.ts';
import type { Connection, OpenStream, Socket } from '../../http/connection.ts';
import type { ReadBody } from '../../http/read-body.ts';
import { requestIdOf } from '../../http/request-id.ts';
import type { About, Administration } from './administration.ts';
import type { ChannelBus } from './channel-bus.ts';
import type { ConnectionRegistry } from './connection-registry.ts';
import type { Description } from './description.ts';
import type { RestApi } from './endpoint.ts';
import type { Projection } from './projection.ts';
import type { SubscriptionHub } from './subscription-hub.ts';

/** In: a dialect in a running server. */
export type Inbound<Rest = unknown> = {
  /**
   * Turns the frames of one socket into commands. Absent if the dialect has no sockets or they are disabled.
   */
  open?(socket: Socket): Connection;
  /** what the handlers of `rest` use; absent if the endpoints are not served */
  readonly rest?: Rest;
  /** Called once at the start, before unfinished turns resume and before clients can connect. */
  resume?(): Promise<void>;
  /** the dialect's part of the public information about the server */
  readonly about?: Readonly<Record<string, unknown>>;
  /** how clients reach the sockets, if it differs from the description */
  readonly sockets?: {
    readonly params?: Readonly<Record<string, string>>;
    /** the origin of another server that serves them */
    readonly elsewhere?: string;
  };
  /** Called when the server has drained. */
  close?(): void | Promise<void>;
};

/** Refusal of a request to one of the dialect's HTTP paths before the dialect receives it. */
export type Faults = {
  /**
   * The body: the origin is not allowed, the endpoint does not exist, or an error occurred. Objects are sent as
   * JSON, strings as plain text.
   */
  refusal(status: number, reason: string, request: Request): object | string;
  /** headers that the contract requires */
  headers?(request: Request): Readonly<Record<string, string>>;
};

// biome-ignore lint/suspicious/noExplicitAny: a list has dialects whose endpoints use different contexts
export interface Dialect<Name extends string = string, State = unknown, Settings = unknown, Rest = any> {
  readonly name: Name;
  /** the WebSocket and HTTP addresses */
  readonly listen: readonly Route[];
  /**
   * On an extra listener of its own, the endpoints below `serves` are also served at the same paths below `at`.
   */
  readonly alone?: { readonly at: string; readonly serves: string };
  /** picks the part of the configuration that the dialect uses */
  readonly settings?: z.ZodType<Settings>;
  /** the agents and domains for its clients */
  readonly catalog?: { readonly domains: readonly Domain[]; readonly agents: readonly Agent[] };
  /** Called once for each server, before it listens. */
  inbound(ctx: DialectContext<Settings>, hub: SubscriptionHub<State>): Inbound<NoInfer<Rest>>;
  /** the HTTP endpoints of the contract */
  readonly rest?: RestApi<Rest>;
  /** Absent if the dialect does not show sessions. */
  readonly projection?: Projection<State>;
  /** Absent if the contract defines no format for refusals. */
  readonly faults?: Faults;
  /** Loaded on demand, so that a server without requests for descriptions does not load them. */
  readonly describe?: () => Promise<Description>;
}

/** A dialect that shows sessions. */
export type ProjectedDialect<
  Name extends string = string,
  State = unknown,
  Settings = unknown,
  // biome-ignore lint/suspicious/noExplicitAny: as in Dialect
  Rest = any,
> = Dialect<Name, State, Settings, Rest> & { readonly projection: Projection<State> };

/**
 * Keeps the literal name, and allows dialects with different state and settings in one list.
 *
 * @example
 * export const echo = defineDialect({
 *   name: 'echo',
 *   listen: [{ ws: '/echo' }, { http: '/api/echo' }],
 *   inbound: (ctx, hub) => ({ open: (socket) => open(socket, ctx, hub), rest: ctx }),
 *   rest: { endpoints, fault: (fault, c) => c.json({ error: fault.message }, HTTP_STATUS[fault.code]) },
 *   projection: { start, step, attach },
 * });
 */
export function defineDialect<const Name extends string, State, Settings, Rest>(
  dialect: ProjectedDialect<Name, State, Settings, Rest>,
): ProjectedDialect<Name>;
export function defineDialect<const Name extends string, State, Settings, Rest>(
  dialect: Dialect<Name, State, Settings, Rest>,
): Dialect<Name>;
export function defineDialect(dialect: object): unknown {
  return dialect;
}

/** Ids by which log lines can be found. */
export type LogIds = { readonly request?: string; readonly connection?: string; readonly session?: string };

export const requestIds = (request: Request): LogIds => ({ request: requestIdOf(request) });

export const socketIds = ({ id, session }: Socket): LogIds => ({
  connection: id,
  session: session ?? undefined,
});

/**
 * Converts anything thrown to a fault that may be shown. Bugs are logged with their cause and hidden from the
 * client.
 */
export function reported(thrown: unknown, { log }: Pick<DialectContext, 'log'>, ids: LogIds): Fault {
  const fault = asFault(thrown);
  if (fault.code === 'internal' || fault.code === 'storage_unavailable')
    log.error({ ...ids, err: fault.cause }, 'failed to handle message');
  else log.debug({ ...ids, code: fault.code, reason: fault.message }, 'message refused');
  return fault;
}

// What the server provides to a dialect. A dialect declares the part it uses: `Pick<DialectContext, 'engine' |
// 'log'>`.

export type DialectContext<Settings = unknown> = {
  readonly engine: Engine;
  /** what the operator's modules offer */
  readonly custom: CustomModules;
  readonly authenticator: Authenticator;
  readonly log: Log;
  /** the part of the configuration that the dialect's `settings` schema picks */
  readonly settings: Settings;
  /** public information about the server */
  readonly about: About;
  /** current counters and gauges */
  readonly figures: () => Promise<Readonly<Record<string, Figures>>>;
  /** why the server cannot serve requests at the moment; null if it can */
  readonly problem: () => Promise<{ readonly reason: string; readonly detail: string } | null>;
  /** for admins */
  readonly administration: Administration;
  readonly readBody: ReadBody;
  /** the address of the client */
  readonly addressOf: (request: Request) => string;
  /** scheme, host and port by which the client reaches the server */
  readonly originOf: (request: Request) => string;
  /** the same for others than the client: as the operator has set it */
  readonly publicOriginOf: (request: Request) => string;
  readonly now: () => number;
  readonly newId: () => string;
  readonly connections: ConnectionRegistry;
  /** answers with server-sent events */
  readonly stream: OpenStream;
  /** publishes to the subscribers of named channels */
  readonly channels: ChannelBus;
  /** which files of working folders are instructions */
  readonly decisions: DecisionStore;
  /** preferences of users */
  readonly preferences: PreferenceStore;
  /** addresses to which the updates of turns are sent; their targets are encrypted */
  readonly webhooks: WebhookStore;
  /** Counts a request. Throws `limited` if its caller sends too many. */
  readonly countRequest: (request: Request) => void;
  /** counts a request that was refused because of that limit */
  readonly refused: (limit: string) => void;
};

// The addresses of a dialect. Plain data: routing, protocol detection and the descriptions are derived from it.

/** A WebSocket address. Several dialects may share a path: `when` and `firstFrame` distinguish them. */
export type SocketRoute = {
  /** a path such as `/ws`, or one with parameters such as `/app/:key` */
  readonly ws: string;
  /** the route applies only to handshakes with a token, or only to those without; to both if absent */
  readonly when?: { readonly token: boolean };
  /**
   * The first frame must have one of these message types to select this dialect if several share the path.
   * Dialects are tried in the order of the index; one without `firstFrame` takes all other frames.
   */
  readonly firstFrame?: ReadonlySet<string>;
  /** Closes a client that sends such a first frame with 1008 and this reason. */
  readonly refuse?: string;
  /** query parameters to add to `Socket.params` */
  readonly query?: readonly string[];
  /**
   * A socket with an invalid token is opened as if it had none, so that the dialect can refuse it with its own
   * frames. Without this it is closed with 1008.
   */
  readonly badToken?: 'anonymous';
  /** headers of the handshake to add to `Socket.params`, in lower case */
  readonly headers?: readonly string[];
  /** the header of the answer to the handshake that names the connection */
  readonly idHeader?: string;
  /** Clients of a vendor's API send some key: in open mode, one that this server cannot have issued is ignored. */
  readonly vendorKey?: true;
  /** The handshake does not authenticate: tokens are not read, and the client may stay unauthenticated. */
  readonly anonymous?: boolean;
};

/** An HTTP path. One that ends in `/*` also matches the path without it. */
export type HttpRoute = {
  readonly http: string;
  /**
   * Several dialects may share a path: requests with this header are routed to the dialect's own path `as`, which ends in
   * `/*` if `http` does. Other requests belong to the dialect that lists the path without `when`.
   */
  readonly when?: { readonly header: string; readonly as: string };
  /** Another address of this path, such as the one with a slash at its end. */
  readonly sameAs?: string;
};

export type Route = SocketRoute | HttpRoute;

export const withToken = { token: true } as const;
export const noToken = { token: false } as const;

export const socketRoutes = (listen: readonly Route[]): SocketRoute[] =>
  listen.filter((route): route is SocketRoute => 'ws' in route);

export const httpRoutes = (listen: readonly Route[]): HttpRoute[] =>
  listen.filter((route): route is HttpRoute => 'http' in route);
