/** WebSocket: bytes to frames and back, for sockets of any dialect. */
import type { ConnectionId, Principal } from '@parlance/protocol';
import type { ServerWebSocket, WebSocketHandler } from 'bun';
import type { Connection, Socket } from '../core/ports/connection.ts';
import type { Log } from '../core/ports/log.ts';
import { Inbox } from './inbox.ts';

export type SocketLimits = {
  /** a larger frame is answered with the dialect's error; one of four times the size closes the socket */
  readonly frameBytes: number;
  /** what may be waiting for a reader that does not read; then the socket is closed */
  readonly unsentBytes: number;
};

/** What is known of a socket when it is opened. */
export type Opening = {
  readonly id: ConnectionId;
  readonly principal: Principal | null;
  readonly session: string | null;
  /** the dialect's side; or why the socket is closed at once, so that the client sees the code */
  readonly accept: ((socket: Socket) => Connection) | { readonly code: number; readonly reason: string };
};

type Data = { readonly opening: Opening; connection: Connection | null; inbox: Inbox | null; open: boolean };

export type SocketTransport = {
  readonly handler: WebSocketHandler<Data>;
  data(opening: Opening): Data;
  /** Tells every socket, then closes it with 1001. */
  drain(): void;
  readonly size: number;
};

export function socketTransport(limits: SocketLimits, log: Log): SocketTransport {
  const sockets = new Set<ServerWebSocket<Data>>();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const inboxLimits = { frames: 1_000, bytes: Math.max(limits.frameBytes * 4, 16 * 1024 * 1024) };
  const failed = (thrown: unknown) => log.error({ err: thrown }, 'a frame could not be handled');

  const handler: WebSocketHandler<Data> = {
    maxPayloadLength: limits.frameBytes * 4,
    backpressureLimit: limits.unsentBytes,
    closeOnBackpressureLimit: true,
    perMessageDeflate: false,
    idleTimeout: 120,
    sendPings: true,

    open(ws) {
      const { accept } = ws.data.opening;
      if (typeof accept !== 'function') {
        ws.close(accept.code, accept.reason);
        return;
      }
      try {
        const connection = accept(socketOf(ws));
        const inbox = new Inbox(failed, inboxLimits);
        sockets.add(ws);
        ws.data.connection = connection;
        ws.data.inbox = inbox;
        if (connection.opened) inbox.put(() => connection.opened?.());
      } catch (thrown) {
        log.error({ err: thrown }, 'a socket could not be opened');
        ws.close(1011, 'Something went wrong.');
      }
    },

    message(ws, raw) {
      const { connection, inbox } = ws.data;
      if (!connection || !inbox) return;
      const read = readFrame(raw, limits.frameBytes, decoder);
      const taken =
        'frame' in read
          ? inbox.put(() => connection.receive(read.frame), raw.length)
          : inbox.put(() => connection.garbled(read.reason));
      if (!taken) ws.close(1013, 'Too many frames at once');
    },

    close(ws) {
      ws.data.open = false;
      sockets.delete(ws);
      ws.data.connection?.closed();
    },
  };

  return {
    handler,
    data: (opening) => ({ opening, connection: null, inbox: null, open: true }),
    drain() {
      for (const ws of sockets) {
        ws.data.connection?.draining();
        ws.close(1001, 'The server is shutting down');
      }
    },
    get size() {
      return sockets.size;
    },
  };
}

function socketOf(ws: ServerWebSocket<Data>): Socket {
  const { id, principal, session } = ws.data.opening;
  return {
    id,
    principal,
    session,
    get open() {
      return ws.data.open;
    },
    send: (frame) => void (ws.data.open && ws.sendText(JSON.stringify(frame))),
    sendText: (text) => void (ws.data.open && ws.sendText(text)),
    close: (code, reason) => ws.close(code, reason),
  };
}

function readFrame(
  raw: string | Buffer,
  limit: number,
  decoder: TextDecoder,
): { frame: unknown } | { reason: string } {
  const size = typeof raw === 'string' ? Buffer.byteLength(raw) : raw.byteLength;
  if (size > limit) return { reason: `the message is larger than ${limit} bytes` };
  let text: string;
  try {
    text = typeof raw === 'string' ? raw : decoder.decode(raw);
  } catch {
    return { reason: 'the message is not valid UTF-8' };
  }
  try {
    return { frame: JSON.parse(text) };
  } catch {
    return { reason: 'the message is not valid JSON' };
  }
}
