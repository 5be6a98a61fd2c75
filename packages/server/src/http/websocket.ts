/** WebSocket transport: bytes to frames and back, for all dialects. */
import { Fault } from '@parlance/protocol';
import type { ServerWebSocket, WebSocketHandler } from 'bun';
import { type Log, type Meter, NO_METER } from '../core/ports/telemetry.ts';

import { AnonymousSockets, type Peer } from './anonymous-sockets.ts';
import type { ByteBudget } from './byte-budget.ts';
import { type Data, DialectSocket, type Opening, SocketWriter } from './dialect-socket.ts';
import { readFrame } from './read-frame.ts';
import { ReceiveQueue } from './receive-queue.ts';
import { SendBuffer } from './send-buffer.ts';
import { type CountedSocket, type CountLimits, type Refusal, SocketCounts } from './socket-counts.ts';
import { TokenBucket } from './token-bucket.ts';

export type SocketLimits = CountLimits & {
  /**
   * a larger frame is answered with the dialect's error; one larger than `largestMessage` closes the socket
   */
  readonly frameBytes: number;
  /** like `frameBytes`, until the peer has authenticated */
  readonly firstFrameBytes: number;
  /** bytes that the runtime may buffer for unfinished messages of unauthenticated peers */
  readonly unfinishedBytes: number;
  /** how long a peer may take to authenticate, in milliseconds; then the socket is closed with 1008 */
  readonly identifyWithin: number;
  /**
   * a frame beyond it is answered with the dialect's error, unread; a client that continues is closed with
   * 1008
   */
  readonly framesPerMinute: number;
  /** a peer without any frame or pong for this long is considered gone; at least 8 */
  readonly idleSeconds: number;
  /** bytes that may be in flight to a slow reader before the socket is closed */
  readonly unsentBytes: number;
  /** additional characters buffered for a slow reader; beyond that, it is closed with 1013 */
  readonly heldCharacters: number;
};

export type SocketTransport = {
  readonly handler: WebSocketHandler<Data>;
  /**
   * Takes a slot for the socket. It is released when the socket closes, or by `release` if it never opens.
   */
  enter(opening: Opening): { readonly data: Data } | { readonly refusal: Refusal };
  release(data: Data): void;
  /** Notifies every socket, then closes it with 1001. */
  drain(): void;
  /** Closes the sockets of a listener that was removed, with 1001. */
  closeAt(listener: number): void;
  readonly size: number;
  /** The number of sockets of the listener by dialect; `unknown` until the protocol is detected. */
  at(listener: number): Readonly<Record<string, number>>;
};

export type SocketDeps = {
  readonly log: Log;
  readonly meter?: Meter;
  /** limits queued frames of peers without a token */
  readonly anonymous: ByteBudget;
};

export function socketTransport(limits: SocketLimits, deps: SocketDeps): SocketTransport {
  const { log, meter = NO_METER, anonymous } = deps;
  const sockets = new Set<ServerWebSocket<Data>>();
  /** The number of sockets by dialect; a dialect without one that counts has 0. */
  const perDialect = (counts: (data: Data) => boolean) => {
    const figures: Record<string, number> = {};
    for (const { data } of sockets)
      figures[data.dialect] = (figures[data.dialect] ?? 0) + (counts(data) ? 1 : 0);
    return figures;
  };
  meter.gauge('sockets', () => perDialect(() => true));
  meter.gauge('sockets_behind', () => perDialect((data) => data.sendBuffer?.behind ?? false));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // Leave room for a burst within the rate limit.
  const receiveLimits = {
    frames: limits.framesPerMinute,
    bytes: Math.max(limits.frameBytes * 4, 16 * 1024 * 1024),
  };
  const maxRefused = Math.max(10, Math.floor(limits.framesPerMinute / 12));
  const counts = new SocketCounts(limits);
  const anonymousSockets = new AnonymousSockets({
    places: Math.max(1, Math.floor(limits.unfinishedBytes / largestMessage(limits.frameBytes))),
    graceMs: limits.identifyWithin / 5,
    lingerMs: LINGER_MS,
  });
  const failed = (thrown: unknown, { opening, dialect }: Data) =>
    log.error({ err: thrown, connection: opening.id, dialect }, 'failed to handle frame');

  /** Reports, in the dialect's error format, that a frame was not read. Immediate, out of order. */
  function refuse(ws: ServerWebSocket<Data>, limit: string, retryAfterMs: number): void {
    meter.add('refusals', limit);
    if (++ws.data.refused > maxRefused) return void ws.close(1008, 'Too many messages');
    ws.data.connection?.onRateLimited?.(new Fault('limited', 'Too many messages.', { retryAfterMs }));
  }

  /** Updates the counts after a peer has authenticated in a frame. */
  function look(ws: ServerWebSocket<Data>): void {
    const { connection, place, peer, open } = ws.data;
    const principal = connection?.identified?.() ?? null;
    if (!open || (principal === null && connection?.isAuthorized?.() !== true)) return;
    clearTimeout(ws.data.deadline);
    ws.data.peer = null;
    if (peer) anonymousSockets.leave(peer, false);
    const refusal = principal ? counts.identify(place, principal.id) : counts.authorize(place);
    if (!refusal) return;
    meter.add('refusals', refusal.limit);
    ws.close(1013, refusal.reason);
  }

  function overdue(ws: ServerWebSocket<Data>): void {
    meter.add('refusals', 'identifyWithin');
    if (anonymousSockets.isCrowded) ws.terminate();
    else ws.close(1008, 'A token is required.');
  }

  function waitedTooLong(ws: ServerWebSocket<Data>): void {
    meter.add('refusals', 'unfinishedBytes');
    // A paused socket has no idle timeout.
    ws.resume();
    ws.close(1013, 'Too many unauthenticated sockets.');
  }

  /** Reads from the socket of an unauthenticated peer as soon as a slot is free. */
  function readInTurn(ws: ServerWebSocket<Data>): void {
    const { place, opening } = ws.data;
    const peer: Peer = {
      address: place.address ?? '',
      admit() {
        clearTimeout(ws.data.deadline);
        if (!opening.mayStay) ws.data.deadline = setTimeout(overdue, limits.identifyWithin, ws);
        if (ws.isPaused) ws.resume();
      },
      evict() {
        meter.add('refusals', 'unfinishedBytes');
        ws.terminate();
      },
    };
    ws.data.peer = peer;
    if (anonymousSockets.join(peer)) return;
    ws.pause();
    ws.data.deadline = setTimeout(waitedTooLong, limits.identifyWithin, ws);
  }

  const handler: WebSocketHandler<Data> = {
    maxPayloadLength: largestMessage(limits.frameBytes),
    backpressureLimit: limits.unsentBytes,
    closeOnBackpressureLimit: true,
    perMessageDeflate: false,
    idleTimeout: limits.idleSeconds,
    sendPings: true,

    open(ws) {
      const { accept } = ws.data.opening;
      if (typeof accept !== 'function') {
        ws.close(accept.code, accept.reason);
        return;
      }
      try {
        const writer = new SocketWriter(ws, meter);
        const sendBuffer = new SendBuffer(writer, writer, limits.heldCharacters);
        ws.data.sendBuffer = sendBuffer;
        const connection = accept(new DialectSocket(ws, sendBuffer));
        const receiveQueue = new ReceiveQueue((thrown) => failed(thrown, ws.data), receiveLimits);
        sockets.add(ws);
        ws.data.connection = connection;
        ws.data.receiveQueue = receiveQueue;
        if (connection.opened) receiveQueue.put(() => connection.opened?.());
        ws.data.stopTokenWatch = ws.data.opening.onTokenRevoked?.((reason) => dismiss(ws, reason)) ?? null;
        if (ws.data.place.unknown && ws.data.open) readInTurn(ws);
      } catch (thrown) {
        log.error({ err: thrown, connection: ws.data.opening.id }, 'failed to open socket');
        ws.close(1011, 'Something went wrong.');
      }
    },

    message(ws, raw) {
      const { connection, receiveQueue, place, rate } = ws.data;
      if (!connection || !receiveQueue) return;
      const wait = rate.take(performance.now());
      if (wait > 0) return refuse(ws, 'framesPerMinute', wait);
      ws.data.tap?.('in', String(raw));
      const isAnonymous = place.unknown || connection.established?.() === false;
      const read = readFrame(raw, isAnonymous ? limits.firstFrameBytes : limits.frameBytes, decoder);
      const held = isAnonymous && 'frame' in read ? raw.length : 0;
      const address = place.address ?? '';
      const arrivedAt = Date.now();
      if (!anonymous.take(held, address)) return refuse(ws, 'anonymousBytes', INBOX_RETRY_MS);
      const release = held > 0 ? () => anonymous.giveBack(held, address) : undefined;
      const taken =
        'frame' in read
          ? receiveQueue.put(
              () => (ws.data.dismissed ? undefined : connection.receive(read.frame, arrivedAt)),
              raw.length,
              release,
            )
          : receiveQueue.put(() => connection.onInvalidFrame(read.reason));
      if (!taken) {
        release?.();
        return refuse(ws, 'framesWaiting', INBOX_RETRY_MS);
      }
      if (ws.data.refused > 0) ws.data.refused--;
      if (place.unknown) receiveQueue.put(() => look(ws));
    },

    drain(ws) {
      ws.data.sendBuffer?.drained();
    },

    close(ws, code) {
      ws.data.open = false;
      sockets.delete(ws);
      ws.data.stopTokenWatch?.();
      clearTimeout(ws.data.deadline);
      counts.leave(ws.data.place);
      if (ws.data.peer) anonymousSockets.leave(ws.data.peer, code !== ABNORMAL);
      ws.data.connection?.closed(ws.data.sendBuffer?.unsent(code === ABNORMAL) ?? [], code);
    },
  };

  return {
    handler,
    enter(opening) {
      const { principal, address = null, unknown = false } = opening;
      const place: CountedSocket = { principal: principal?.id ?? null, address, unknown };
      let refusal = counts.enter(place);
      if (refusal?.limit === 'unknownSockets' && anonymousSockets.evictWaiting())
        refusal = counts.enter(place);
      if (refusal) {
        meter.add('refusals', refusal.limit);
        return { refusal };
      }
      const rate = new TokenBucket(limits.framesPerMinute, performance.now());
      return { data: { ...NEW, opening, place, rate } };
    },
    release: ({ place }) => counts.leave(place),
    drain() {
      for (const ws of sockets) {
        ws.data.connection?.draining();
        ws.close(1001, 'The server is shutting down');
      }
    },
    closeAt(listener) {
      for (const ws of sockets) if (isAt(ws.data, listener)) ws.close(1001, 'The listener was removed');
    },
    get size() {
      return sockets.size;
    },
    at(listener) {
      const figures: Record<string, number> = {};
      for (const { data } of sockets)
        if (isAt(data, listener)) figures[data.dialect] = (figures[data.dialect] ?? 0) + 1;
      return figures;
    },
  };
}

const NEW = {
  connection: null,
  receiveQueue: null,
  sendBuffer: null,
  dialect: 'unknown',
  tap: null,
  peer: null,
  open: true,
  dismissed: false,
  stopTokenWatch: null,
  refused: 0,
  deadline: undefined,
};

const isAt = ({ opening }: Data, listener: number): boolean => (opening.listener ?? 0) === listener;

/** close code of a connection that broke without a closing handshake */
const ABNORMAL = 1006;

/** Bun keeps a socket for up to 16 s, in steps of 4, if the peer does not finish the closing handshake. */
const LINGER_MS = 20_000;

/**
 * Frames between `frameBytes` and this size are answered with the dialect's error. Larger messages are not
 * buffered.
 */
const largestMessage = (frameBytes: number): number => frameBytes + Math.max(frameBytes / 4, 65_536);

/** suggested delay before sending more frames */
const INBOX_RETRY_MS = 1_000;

function dismiss(ws: ServerWebSocket<Data>, reason: string): void {
  ws.data.dismissed = true;
  ws.close(1008, reason);
}
