/** WebSocket: bytes to frames and back, for sockets of any dialect. */
import type { ConnectionId, Principal } from '@parlance/protocol';
import type { ServerWebSocket, WebSocketHandler } from 'bun';
import type { Connection, Socket } from '../core/ports/connection.ts';
import type { Log } from '../core/ports/log.ts';
import { type Meter, NO_METER } from '../core/ports/meter.ts';
import { Inbox } from './inbox.ts';
import { type Lag, Outbox } from './outbox.ts';

export type SocketLimits = {
  /** a larger frame is answered with the dialect's error; one of four times the size closes the socket */
  readonly frameBytes: number;
  /** what may be on its way to a reader that does not read; then the socket is closed */
  readonly unsentBytes: number;
  /** what may be held for such a reader beside it, in characters; then it is let go with 1013 */
  readonly heldCharacters: number;
};

/** What is known of a socket when it is opened. */
export type Opening = {
  readonly id: ConnectionId;
  readonly principal: Principal | null;
  readonly session: string | null;
  /** Watches over the right to be here: calls `ended` when it is lost. Returns what ends the watch. */
  readonly guard?: (ended: (reason: string) => void) => () => void;
  /** the dialect's side; or why the socket is closed at once, so that the client sees the code */
  readonly accept: ((socket: Socket) => Connection) | { readonly code: number; readonly reason: string };
};

type Data = {
  readonly opening: Opening;
  connection: Connection | null;
  inbox: Inbox | null;
  outbox: Outbox | null;
  dialect: string;
  open: boolean;
  /** what is read after the right to be here was lost is not handled */
  dismissed: boolean;
  endGuard: (() => void) | null;
};

export type SocketTransport = {
  readonly handler: WebSocketHandler<Data>;
  data(opening: Opening): Data;
  /** Tells every socket, then closes it with 1001. */
  drain(): void;
  readonly size: number;
};

export function socketTransport(limits: SocketLimits, log: Log, meter: Meter = NO_METER): SocketTransport {
  const sockets = new Set<ServerWebSocket<Data>>();
  const perDialect = (counts: (data: Data) => boolean) => () => {
    const figures: Record<string, number> = {};
    for (const { data } of sockets)
      figures[data.dialect] = (figures[data.dialect] ?? 0) + (counts(data) ? 1 : 0);
    return figures;
  };
  meter.gauge(
    'sockets',
    perDialect(() => true),
  );
  meter.gauge(
    'sockets_behind',
    perDialect((data) => data.outbox?.behind ?? false),
  );
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const inboxLimits = { frames: 1_000, bytes: Math.max(limits.frameBytes * 4, 16 * 1024 * 1024) };
  const failed = (thrown: unknown, { opening, dialect }: Data) =>
    log.error({ err: thrown, connection: opening.id, dialect }, 'a frame could not be handled');

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
        const outbox = outboxOf(ws, limits.heldCharacters, meter);
        ws.data.outbox = outbox;
        const connection = accept(socketOf(ws, outbox));
        const inbox = new Inbox((thrown) => failed(thrown, ws.data), inboxLimits);
        sockets.add(ws);
        ws.data.connection = connection;
        ws.data.inbox = inbox;
        if (connection.opened) inbox.put(() => connection.opened?.());
        ws.data.endGuard = ws.data.opening.guard?.((reason) => dismiss(ws, reason)) ?? null;
      } catch (thrown) {
        log.error({ err: thrown, connection: ws.data.opening.id }, 'a socket could not be opened');
        ws.close(1011, 'Something went wrong.');
      }
    },

    message(ws, raw) {
      const { connection, inbox } = ws.data;
      if (!connection || !inbox) return;
      const read = readFrame(raw, limits.frameBytes, decoder);
      const taken =
        'frame' in read
          ? inbox.put(() => (ws.data.dismissed ? undefined : connection.receive(read.frame)), raw.length)
          : inbox.put(() => connection.garbled(read.reason));
      if (!taken) ws.close(1013, 'Too many frames at once');
    },

    drain(ws) {
      ws.data.outbox?.drained();
    },

    close(ws) {
      ws.data.open = false;
      sockets.delete(ws);
      ws.data.endGuard?.();
      ws.data.connection?.closed();
    },
  };

  return {
    handler,
    data: (opening) => ({
      opening,
      connection: null,
      inbox: null,
      outbox: null,
      dialect: 'unknown',
      open: true,
      dismissed: false,
      endGuard: null,
    }),
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

function dismiss(ws: ServerWebSocket<Data>, reason: string): void {
  ws.data.dismissed = true;
  ws.close(1008, reason);
}

function outboxOf(ws: ServerWebSocket<Data>, limit: number, meter: Meter): Outbox {
  const lag: Lag = {
    coalesced: () => meter.add('frames_coalesced', ws.data.dialect),
    caughtUp: (ms) => meter.observe('reader_lag_seconds', ms / 1000, ws.data.dialect),
    letGo: () => meter.add('slow_readers_closed', ws.data.dialect),
  };
  const wire = {
    sendText: (text: string) => ws.sendText(text),
    letGo: () => ws.close(1013, 'Too slow a reader: connect again to go on'),
  };
  return new Outbox(wire, lag, limit);
}

function socketOf(ws: ServerWebSocket<Data>, outbox: Outbox): Socket {
  const { id, principal, session } = ws.data.opening;
  return {
    id,
    principal,
    session,
    get open() {
      return ws.data.open;
    },
    speaks(dialect) {
      ws.data.dialect = dialect;
    },
    send: (frame) => void (ws.data.open && outbox.send(JSON.stringify(frame))),
    sendText: (text, frame, pieces) => void (ws.data.open && outbox.send(text, frame, pieces)),
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
