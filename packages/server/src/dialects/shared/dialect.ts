/** A client wire that we serve. Each has a folder of its own, with the same files in it. */
import { asFault, type Fault } from '@parlance/protocol';
import type { Hono } from 'hono';
import type { Engine, Figures, Log, PreferenceStore, SessionRef } from '../../core/api/index.ts';
import type { Authenticator } from '../../http/authenticator.ts';
import type { Connection, OpenStream, Socket } from '../../http/connection.ts';
import type { ReadBody } from '../../http/read-body.ts';
import { requestIdOf } from '../../http/request-id.ts';
import type { About } from '../native/about.ts';
import type { Administration } from '../native/admin.ts';
import type { ConnectionRegistry } from './connection-registry.ts';
import type { Projection } from './projection.ts';
import type { Push } from './push.ts';
import type { SubscriptionHub } from './subscription-hub.ts';

export type DialectName =
  | 'extension'
  | 'broadcast'
  | 'agentloop'
  | 'conversations'
  | 'copilot'
  | 'native'
  | 'pusher';

/** What a dialect works with. */
export type DialectContext = {
  readonly engine: Engine;
  readonly authenticator: Authenticator;
  readonly log: Log;
  /** what clients are told about the server */
  readonly about: About;
  /** the counters and gauges of this moment */
  readonly figures: () => Promise<Readonly<Record<string, Figures>>>;
  /** why the server cannot serve just now; null if it can */
  readonly problem: () => Promise<{ readonly reason: string; readonly detail: string } | null>;
  /** what admins look after */
  readonly administration: Administration;
  readonly readBody: ReadBody;
  /** where a request comes from */
  readonly addressOf: (request: Request) => string;
  readonly now: () => number;
  readonly newId: () => string;
  readonly connections: ConnectionRegistry;
  readonly hubOf: (dialect: DialectName) => SubscriptionHub<unknown>;
  /** answers with server-sent events */
  readonly stream: OpenStream;
  /** pushes to the clients of a channel */
  readonly push: Push;
  /** from now on what is said in the session is published on its channel */
  readonly follow: (ref: SessionRef) => Promise<void>;
  /** what users have chosen for themselves */
  readonly preferences: PreferenceStore;
  /** how often one caller may ask over HTTP, where the contract has limits */
  readonly requestsPerMinute: number;
  /** Counts a request. Throws `limited` where its caller asks too often. */
  readonly asked: (request: Request) => void;
  /** counts what was refused because of that limit */
  readonly refused: (limit: string) => void;
  /** the largest page that a client may show, in characters */
  readonly maxDom: number;
  /** the origins that browser tools may touch */
  readonly toolOrigins: readonly string[];
};

export interface Dialect<State = unknown> {
  readonly name: DialectName;
  readonly projection: Projection<State>;
  /** In: frames to commands, for one socket. Absent where the dialect has no sockets. */
  open?(socket: Socket, ctx: DialectContext, hub: SubscriptionHub<State>): Connection;
  /** Called once at the start, before unfinished turns go on and before anyone can connect. */
  resume?(ctx: DialectContext, hub: SubscriptionHub<State>): Promise<void>;
  /**
   * How a request to one of its HTTP endpoints is refused where the dialect does not see it: its origin is not allowed, or
   * there is no such endpoint. Undefined for a path that is not the dialect's.
   */
  refusal?(path: string, status: number, reason: string): object | undefined;
  /** The HTTP endpoints of the contract. */
  routes?(app: Hono, ctx: DialectContext): void;
}

/** Lets a dialect with its own state type stand in a list of dialects. */
export const defineDialect = <State>(dialect: Dialect<State>): Dialect => dialect as unknown as Dialect;

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
