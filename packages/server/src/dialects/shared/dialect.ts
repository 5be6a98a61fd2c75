/**
 * A client protocol that we serve. Each has a folder with the same files in it and one line in the index; routing, protocol
 * detection, extra listeners, descriptions and the suites that run for every dialect are derived from its descriptor.
 */
import { asFault, type Fault } from '@parlance/protocol';
import type { Hono } from 'hono';
import type { z } from 'zod';
import type { Agent, Domain } from '../../core/api/index.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { requestIdOf } from '../../http/request-id.ts';
import type { DialectContext } from './context.ts';
import type { Description } from './description.ts';
import type { Route } from './listen.ts';
import type { Projection } from './projection.ts';
import type { SubscriptionHub } from './subscription-hub.ts';

export type { DialectContext } from './context.ts';

/** In: a dialect in one running server. */
export type Inbound = {
  /** Frames to commands, for one socket. Absent if the dialect has no sockets, or they are turned off. */
  open?(socket: Socket): Connection;
  /** Adds the HTTP endpoints of the contract. */
  routes?(app: Hono): void;
  /** Called once at the start, before unfinished turns go on and before anyone can connect. */
  resume?(): Promise<void>;
  /** its part of the public information about the server */
  readonly about?: Readonly<Record<string, unknown>>;
  /** how clients of this server reach its sockets, if that differs from the description */
  readonly sockets?: {
    readonly params?: Readonly<Record<string, string>>;
    /** the origin of another server that serves them */
    readonly elsewhere?: string;
  };
  /** Called when the server has drained. */
  close?(): void | Promise<void>;
};

/** How a request to one of the dialect's HTTP paths is refused before the dialect sees it. */
export type Faults = {
  /**
   * The body: the origin is not allowed, there is no such endpoint, or something went wrong. An object is sent as JSON, a
   * string as plain text.
   */
  refusal(status: number, reason: string, request: Request): object | string;
  /** what the contract wants beside the body */
  headers?(request: Request): Readonly<Record<string, string>>;
};

export interface Dialect<Name extends string = string, State = unknown, Settings = unknown> {
  readonly name: Name;
  /** the WebSocket and HTTP addresses */
  readonly listen: readonly Route[];
  /** On an extra listener of its own, its endpoints below `serves` are also at the same paths below `at`. */
  readonly alone?: { readonly at: string; readonly serves: string };
  /** picks the part of the configuration that the dialect uses */
  readonly settings?: z.ZodType<Settings>;
  /** the agents that work for its clients, and their domains */
  readonly catalog?: { readonly domains: readonly Domain[]; readonly agents: readonly Agent[] };
  /** Called once for each server, before it listens. */
  inbound(ctx: DialectContext<Settings>, hub: SubscriptionHub<State>): Inbound;
  /** Absent if the dialect does not show sessions. */
  readonly projection?: Projection<State>;
  /** Absent if the contract has no shape of its own for refusals. */
  readonly faults?: Faults;
  /** Loaded on demand: a server that is not asked for descriptions does not pay for them. */
  readonly describe?: () => Promise<Description>;
}

/** A dialect that shows sessions. */
export type ProjectedDialect<Name extends string = string, State = unknown, Settings = unknown> = Dialect<
  Name,
  State,
  Settings
> & { readonly projection: Projection<State> };

/**
 * Keeps the literal name, and lets dialects with state and settings of their own stand in one list.
 *
 * @example
 * export const echo = defineDialect({
 *   name: 'echo',
 *   listen: [{ ws: '/echo' }, { http: '/api/echo' }],
 *   inbound: (ctx, hub) => ({ open: (socket) => open(socket, ctx, hub), routes: (app) => routes(app, ctx) }),
 *   projection: { start, step, attach },
 * });
 */
export function defineDialect<const Name extends string, State, Settings>(
  dialect: ProjectedDialect<Name, State, Settings>,
): ProjectedDialect<Name>;
export function defineDialect<const Name extends string, State, Settings>(
  dialect: Dialect<Name, State, Settings>,
): Dialect<Name>;
export function defineDialect(dialect: object): unknown {
  return dialect;
}

/** What a line of the log is found by. */
export type LogIds = { readonly request?: string; readonly connection?: string; readonly session?: string };

export const requestIds = (request: Request): LogIds => ({ request: requestIdOf(request) });

export const socketIds = ({ id, session }: Socket): LogIds => ({
  connection: id,
  session: session ?? undefined,
});

/** Anything thrown, as a fault that may be shown. A bug is logged with its cause; the client sees nothing of it. */
export function reported(thrown: unknown, { log }: Pick<DialectContext, 'log'>, ids: LogIds): Fault {
  const fault = asFault(thrown);
  if (fault.code === 'internal' || fault.code === 'storage_unavailable')
    log.error({ ...ids, err: fault.cause }, 'a message could not be handled');
  else log.debug({ ...ids, code: fault.code, reason: fault.message }, 'a message was refused');
  return fault;
}
