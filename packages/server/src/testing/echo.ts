/** An echo server without a dialect and with configurable limits, for transport tests. */
import { type ConnectionId, LOCAL } from '@parlance/protocol';
import type { Log } from '../core/index.ts';
import { type Meter, NO_METER } from '../core/ports/telemetry.ts';

import { ByteBudget } from '../http/byte-budget.ts';
import type { Connection, Socket } from '../http/connection.ts';
import type { Opening } from '../http/dialect-socket.ts';
import { listen } from '../http/listener.ts';
import { type SocketLimits, socketTransport } from '../http/websocket.ts';
import { TestClient } from './client.ts';

/** Limits that no test reaches by accident. */
export const SOCKET_LIMITS: SocketLimits = {
  frameBytes: 1_048_576,
  firstFrameBytes: 1_048_576,
  identifyWithin: 3_600_000,
  framesPerMinute: 12_000,
  sockets: 10_000,
  socketsPerPrincipal: 10_000,
  socketsPerAddress: 10_000,
  unknownSockets: 10_000,
  unfinishedBytes: 1_073_741_824,
  idleSeconds: 120,
  unsentBytes: 1_000_000,
  heldCharacters: 100_000,
};

const ignore = () => undefined;
const QUIET: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

export type EchoOptions = {
  readonly limits?: Partial<SocketLimits>;
  readonly opening?: Partial<Opening>;
  readonly anonymousBytes?: number;
};

/** The client receives `{type: 'error', reason}` for an unreadable frame and `{type: 'limited'}` for a rate-limited one. */
export function serveEcho(
  make: (socket: Socket) => Partial<Connection> = () => ({}),
  { limits = {}, opening = {}, anonymousBytes = 16_777_216 }: EchoOptions = {},
) {
  /** refused frames, in order */
  const refusals: string[] = [];
  const meter: Meter = {
    ...NO_METER,
    add: (name, label) => void (name === 'refusals' && refusals.push(label ?? '')),
  };
  const anonymous = new ByteBudget(anonymousBytes);
  const sockets = socketTransport({ ...SOCKET_LIMITS, ...limits }, { log: QUIET, meter, anonymous });
  let count = 0;
  const accept = (socket: Socket): Connection => ({
    receive: (frame) => socket.sendFrame({ type: 'echo', frame }),
    onInvalidFrame: (reason) => socket.sendFrame({ type: 'error', reason }),
    onRateLimited: (fault) => socket.sendFrame({ type: 'limited', retryAfterMs: fault.retryAfterMs }),
    closed: ignore,
    draining: () => socket.sendFrame({ type: 'draining' }),
    ...make(socket),
  });
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    sockets,
    admit: (request) => (request.headers.get('origin') === 'http://evil.example' ? 'Not from there' : null),
    opening: async (request) => {
      if (new URL(request.url).pathname !== '/ws') return null;
      const id = `socket-${++count}` as ConnectionId;
      return { id, principal: LOCAL, session: null, accept, ...opening };
    },
    routes: async (request) => new Response(`a route, ${(await request.text()).length}`),
  });
  const { port } = server;
  return {
    sockets,
    anonymous,
    refusals,
    port: port ?? 0,
    http: `http://127.0.0.1:${port}`,
    connect: () => TestClient.connect(`ws://127.0.0.1:${port}/ws`),
    stop: () => server.stop(true),
  };
}
