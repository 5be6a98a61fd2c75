/** A server for Pusher channels with configurable limits and clock, and raw clients for it. */
import type { ConnectionId } from '@parlance/protocol';
import { Hono } from 'hono';
import type { Transport } from '../cluster/transport.ts';
import type { Log } from '../core/index.ts';
import { serveEndpoints } from '../dialects/kit/serve-endpoints.ts';
import type { Limits } from '../dialects/pusher/contract.ts';
import { openPusher } from '../dialects/pusher/inbound.ts';
import { joinNodes } from '../dialects/pusher/other-nodes.ts';
import { type PusherContext, rest } from '../dialects/pusher/routes.ts';
import { type Application, type Clock, type PusherServer, pusherServer } from '../dialects/pusher/server.ts';
import { type Signable, signedQuery, subscriptionAuth } from '../dialects/pusher/signature.ts';
import type { Authenticator } from '../http/authenticator.ts';
import { ByteBudget } from '../http/byte-budget.ts';
import { listen } from '../http/listener.ts';
import { type BodyLimits, bodyReader } from '../http/request-body.ts';
import { socketTransport } from '../http/websocket.ts';
import { type AnyFrame, TestClient } from './client.ts';
import { SOCKET_LIMITS } from './echo.ts';

export const APPLICATION: Application = {
  id: 'app-id',
  key: 'app-key',
  secret: 'app-secret',
  known: false,
};

/** A clock that tests advance manually. */
export class FakeClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.#now + milliseconds, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
    for (const timer of [...this.#timers]) {
      if (timer.at <= this.#now && this.#timers.delete(timer)) timer.run();
    }
  }

  get timers(): number {
    return this.#timers.size;
  }
}

type PusherFrame = AnyFrame & {
  event: string;
  channel?: string;
  data: Record<string, unknown>;
  user_id?: string;
};

/** A raw protocol client. */
export class RawPusher {
  private constructor(
    readonly client: TestClient,
    private readonly application: Application,
  ) {}

  socketId = '';

  /** Connects without waiting for the greeting. */
  static async connect(ws: string, application: Application, path?: string): Promise<RawPusher> {
    const client = await TestClient.connect(`${ws}${path ?? `/app/${application.key}?protocol=7`}`);
    return new RawPusher(client, application);
  }

  async greeted(): Promise<this> {
    this.socketId = String((await this.received('pusher:connection_established')).data.socket_id);
    return this;
  }

  send(event: string, data?: unknown, channel?: string): void {
    this.client.send({ event, data, channel });
  }

  /** The next event with that name, with its data parsed; skips earlier events. */
  async received(event: string): Promise<PusherFrame> {
    const frame = await this.client.next((frame) => frame.event === event);
    const data = typeof frame.data === 'string' ? JSON.parse(frame.data) : frame.data;
    return { ...frame, event, data };
  }

  /** The code of the next error. */
  async complaint(): Promise<unknown> {
    return (await this.received('pusher:error')).data.code;
  }

  ask(channel: string, member?: object): void {
    const channel_data = member && JSON.stringify(member);
    const auth = subscriptionAuth(this.application, {
      socketId: this.socketId,
      channel,
      channelData: channel_data,
    });
    this.send('pusher:subscribe', { channel, auth, channel_data });
  }

  async subscribe(channel: string, member?: object): Promise<PusherFrame> {
    this.ask(channel, member);
    return this.received('pusher_internal:subscription_succeeded');
  }

  /** Resolves when all earlier messages have been handled; returns the events received in the meantime. */
  async settled(): Promise<string[]> {
    this.send('pusher:ping');
    const frames = await this.client.until((frame) => frame.event === 'pusher:pong');
    return frames.slice(0, -1).map((frame) => String(frame.event));
  }
}

export type PusherTestServer = {
  readonly server: PusherServer;
  readonly clock: FakeClock;
  readonly http: string;
  readonly ws: string;
  readonly port: number;
  /** a client that has received its greeting */
  connect(): Promise<RawPusher>;
  open(path: string): Promise<RawPusher>;
  /** a signed request; `query` is added before it is signed */
  call(method: string, path: string, body?: unknown): Promise<Response>;
  drain(): void;
  stop(): Promise<void>;
};

const BODY_LIMITS: BodyLimits = {
  maxBody: 11 * 1024 * 1024,
  maxLoginBody: 16_384,
  bodyWithin: 60_000,
  identifyWithin: 60_000,
  bodyRate: 0,
};

const ignore = () => undefined;
export const QUIET: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** The other nodes, and the authenticator. */
export type PusherCluster = { readonly transport: Transport; readonly authenticator: Authenticator };

export function servePusher(
  limits: Partial<Limits> = {},
  changes: Partial<Application> = {},
  cluster?: PusherCluster,
): PusherTestServer {
  const application = { ...APPLICATION, ...changes };
  const clock = new FakeClock();
  const server = pusherServer(application, QUIET, { limits, clock });
  if (cluster) joinNodes(server, { ...cluster, log: QUIET });
  const app = new Hono();
  const anonymous = new ByteBudget(16_777_216);
  const readBody = bodyReader(BODY_LIMITS, {
    budgets: { anonymous, identified: anonymous },
    addressOf: () => '127.0.0.1',
  });
  // Signed requests have no caller and use no engine.
  serveEndpoints(app, rest, { server, log: QUIET, readBody, isDisabled: false } as unknown as PusherContext);
  const sockets = socketTransport(
    { ...SOCKET_LIMITS, frameBytes: 100_000, heldCharacters: 262_144 },
    { log: QUIET, anonymous },
  );
  let count = 0;
  const listening = listen({
    hostname: '127.0.0.1',
    port: 0,
    sockets,
    admit: () => null,
    opening: async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const key = pathname.match(/^\/app\/([^/]+)\/?$/)?.[1];
      const handshake = key === undefined ? null : { key, protocol: searchParams.get('protocol') };
      const id = `socket-${++count}` as ConnectionId;
      return (
        handshake && { id, principal: null, session: null, accept: (s) => openPusher(s, handshake, server) }
      );
    },
    routes: (request) => app.fetch(request),
  });
  const port = listening.port ?? 0;
  const http = `http://127.0.0.1:${port}`;
  const ws = `ws://127.0.0.1:${port}`;
  return {
    server,
    clock,
    http,
    ws,
    port,
    connect: async () => (await RawPusher.connect(ws, application)).greeted(),
    open: (path) => RawPusher.connect(ws, application, path),
    call: (method, path, body) => signedCall(http, { application, now: clock.now() }, { method, path, body }),
    drain: () => sockets.drain(),
    stop: () => listening.stop(true),
  };
}

/** A request signed as the server libraries of Pusher do. `now` is in milliseconds. */
export function signedCall(
  http: string,
  { application, now = Date.now() }: { application: Application; now?: number },
  { method, path, body }: { method: string; path: string; body?: unknown },
): Promise<Response> {
  const url = new URL(http + path);
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const signable: Signable = { method, path: url.pathname, body: text, query: url.searchParams };
  const query = signedQuery(application, signable, now);
  return fetch(`${http}${url.pathname}?${query}`, { method, ...(text === '' ? {} : { body: text }) });
}
