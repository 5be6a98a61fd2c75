/** WebSocket: bytes to frames and back, for sockets of any dialect. */
import { type ConnectionId, Fault, jsonNestsDeeper, type Principal } from '@parlance/protocol';
import type { ServerWebSocket, WebSocketHandler } from 'bun';
import type { Connection, Guard, Passing, Pieces, Socket } from '../core/ports/connection.ts';
import type { Log } from '../core/ports/log.ts';
import { type Meter, NO_METER } from '../core/ports/meter.ts';
import { TokenBucket } from '../core/token-bucket.ts';
import type { ByteBudget } from './byte-budget.ts';
import { Inbox } from './inbox.ts';
import { type Lag, Outbox, type Wire } from './outbox.ts';
import { type CountLimits, type Place, type Refusal, SocketCounts } from './socket-counts.ts';

export type SocketLimits = CountLimits & {
  /** a larger frame is answered with the dialect's error; one of four times the size closes the socket */
  readonly frameBytes: number;
  /** the same, until the peer has identified itself or subscribed to something */
  readonly firstFrameBytes: number;
  /** how long they may take to say it, in milliseconds; then the socket is closed with 1008 */
  readonly identifyWithin: number;
  /** a frame beyond it is answered with the dialect's error, unread; who does not stop is let go with 1008 */
  readonly framesPerMinute: number;
  /** a peer that is not heard for so long, pongs included, is gone; 8 is the least that there is */
  readonly idleSeconds: number;
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
  /** which door it comes through; the first, unless told */
  readonly door?: number;
  /** where it comes from, where that is counted */
  readonly address?: string;
  /** whoever opens it has yet to say who they are, and has to */
  readonly unknown?: boolean;
  readonly guard?: Guard | undefined;
  /** the dialect's side; or why the socket is closed at once, so that the client sees the code */
  readonly accept: ((socket: Socket) => Connection) | { readonly code: number; readonly reason: string };
};

type Data = {
  readonly opening: Opening;
  connection: Connection | null;
  inbox: Inbox | null;
  outbox: Outbox | null;
  dialect: string;
  /** who looks at the frames that pass; nearly always nobody */
  passing: Passing | null;
  open: boolean;
  /** what is read after the right to be here was lost is not handled */
  dismissed: boolean;
  endGuard: (() => void) | null;
  readonly place: Place;
  readonly rate: TokenBucket;
  /** frames that were refused, less those that were taken since */
  refused: number;
  /** closes the socket of whoever does not say in time who they are */
  deadline: ReturnType<typeof setTimeout> | undefined;
};

export type SocketTransport = {
  readonly handler: WebSocketHandler<Data>;
  /** Takes a place for the socket. It is given back when the socket is closed, or by `release` where it never opens. */
  enter(opening: Opening): { readonly data: Data } | { readonly refusal: Refusal };
  release(data: Data): void;
  /** Tells every socket, then closes it with 1001. */
  drain(): void;
  readonly size: number;
  /** How many came through that door, by dialect; `unknown` while a socket has yet to show what it speaks. */
  at(door: number): Readonly<Record<string, number>>;
};

export type SocketDeps = {
  readonly log: Log;
  readonly meter?: Meter;
  /** bounds the frames of peers without a token that wait to be handled */
  readonly anonymous: ByteBudget;
};

export function socketTransport(limits: SocketLimits, deps: SocketDeps): SocketTransport {
  const { log, meter = NO_METER, anonymous } = deps;
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
  // A burst that is within the limit has room.
  const inboxLimits = {
    frames: limits.framesPerMinute,
    bytes: Math.max(limits.frameBytes * 4, 16 * 1024 * 1024),
  };
  const mostRefused = Math.max(10, Math.floor(limits.framesPerMinute / 12));
  const counts = new SocketCounts(limits);
  const failed = (thrown: unknown, { opening, dialect }: Data) =>
    log.error({ err: thrown, connection: opening.id, dialect }, 'a frame could not be handled');

  /** Says in the dialect's words that a frame was not read. Not in turn: it is said at once. */
  function refuse(ws: ServerWebSocket<Data>, limit: string, retryAfterMs: number): void {
    meter.add('refusals', limit);
    if (++ws.data.refused > mostRefused) return void ws.close(1008, 'Too many messages');
    ws.data.connection?.limited?.(new Fault('limited', 'Too many messages.', { retryAfterMs }));
  }

  /** Who has said in a frame who they are is known from then on. */
  function look(ws: ServerWebSocket<Data>): void {
    const principal = ws.data.connection?.identified?.();
    if (!principal || !ws.data.open) return;
    clearTimeout(ws.data.deadline);
    const refusal = counts.identify(ws.data.place, principal.id);
    if (!refusal) return;
    meter.add('refusals', refusal.limit);
    ws.close(1013, refusal.reason);
  }

  function overdue(ws: ServerWebSocket<Data>): void {
    meter.add('refusals', 'identifyWithin');
    ws.close(1008, 'A token is required.');
  }

  const handler: WebSocketHandler<Data> = {
    maxPayloadLength: limits.frameBytes * 4,
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
        const wire = new SocketWire(ws, meter);
        const outbox = new Outbox(wire, wire, limits.heldCharacters);
        ws.data.outbox = outbox;
        const connection = accept(new DialectSocket(ws, outbox));
        const inbox = new Inbox((thrown) => failed(thrown, ws.data), inboxLimits);
        sockets.add(ws);
        ws.data.connection = connection;
        ws.data.inbox = inbox;
        if (connection.opened) inbox.put(() => connection.opened?.());
        ws.data.endGuard = ws.data.opening.guard?.((reason) => dismiss(ws, reason)) ?? null;
        if (ws.data.place.unknown) ws.data.deadline = setTimeout(overdue, limits.identifyWithin, ws);
      } catch (thrown) {
        log.error({ err: thrown, connection: ws.data.opening.id }, 'a socket could not be opened');
        ws.close(1011, 'Something went wrong.');
      }
    },

    message(ws, raw) {
      const { connection, inbox, place, rate } = ws.data;
      if (!connection || !inbox) return;
      const wait = rate.take(performance.now());
      if (wait > 0) return refuse(ws, 'framesPerMinute', wait);
      ws.data.passing?.('in', String(raw));
      const isAnonymous = place.unknown || connection.established?.() === false;
      const read = readFrame(raw, isAnonymous ? limits.firstFrameBytes : limits.frameBytes, decoder);
      const held = isAnonymous && 'frame' in read ? raw.length : 0;
      const address = place.address ?? '';
      const arrivedAt = Date.now();
      if (!anonymous.take(held, address)) return refuse(ws, 'anonymousBytes', INBOX_RETRY_MS);
      const release = held > 0 ? () => anonymous.giveBack(held, address) : undefined;
      const taken =
        'frame' in read
          ? inbox.put(
              () => (ws.data.dismissed ? undefined : connection.receive(read.frame, arrivedAt)),
              raw.length,
              release,
            )
          : inbox.put(() => connection.garbled(read.reason));
      if (!taken) {
        release?.();
        return refuse(ws, 'framesWaiting', INBOX_RETRY_MS);
      }
      if (ws.data.refused > 0) ws.data.refused--;
      if (place.unknown) inbox.put(() => look(ws));
    },

    drain(ws) {
      ws.data.outbox?.drained();
    },

    close(ws, code) {
      ws.data.open = false;
      sockets.delete(ws);
      ws.data.endGuard?.();
      clearTimeout(ws.data.deadline);
      counts.leave(ws.data.place);
      ws.data.connection?.closed(ws.data.outbox?.unsent(code === ABNORMAL) ?? []);
    },
  };

  return {
    handler,
    enter(opening) {
      const { principal, address = null, unknown = false } = opening;
      const place: Place = { principal: principal?.id ?? null, address, unknown };
      const refusal = counts.enter(place);
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
    get size() {
      return sockets.size;
    },
    at(door) {
      const figures: Record<string, number> = {};
      for (const { data } of sockets)
        if ((data.opening.door ?? 0) === door) figures[data.dialect] = (figures[data.dialect] ?? 0) + 1;
      return figures;
    },
  };
}

const NEW = {
  connection: null,
  inbox: null,
  outbox: null,
  dialect: 'unknown',
  passing: null,
  open: true,
  dismissed: false,
  endGuard: null,
  refused: 0,
  deadline: undefined,
};

/** the close code of a connection that broke without a closing handshake */
const ABNORMAL = 1006;

/** when the frames that wait may have become fewer */
const INBOX_RETRY_MS = 1_000;

function dismiss(ws: ServerWebSocket<Data>, reason: string): void {
  ws.data.dismissed = true;
  ws.close(1008, reason);
}

/** One object for each socket, and no closures: there are thousands of them. */
class SocketWire implements Wire, Lag {
  constructor(
    private readonly ws: ServerWebSocket<Data>,
    private readonly meter: Meter,
  ) {}

  sendText(text: string): number {
    return this.ws.sendText(text);
  }

  letGo(): void {
    this.ws.close(1013, 'Too slow a reader: connect again to go on');
  }

  coalesced(): void {
    this.meter.add('frames_coalesced', this.ws.data.dialect);
  }

  caughtUp(ms: number): void {
    this.meter.observe('reader_lag_seconds', ms / 1000, this.ws.data.dialect);
  }

  gaveUp(): void {
    this.meter.add('slow_readers_closed', this.ws.data.dialect);
  }
}

/** What a dialect holds of it. */
class DialectSocket implements Socket {
  constructor(
    private readonly ws: ServerWebSocket<Data>,
    private readonly outbox: Outbox,
  ) {}

  get id(): ConnectionId {
    return this.ws.data.opening.id;
  }

  get principal(): Principal | null {
    return this.ws.data.opening.principal;
  }

  get session(): string | null {
    return this.ws.data.opening.session;
  }

  get open(): boolean {
    return this.ws.data.open;
  }

  speaks(dialect: string): void {
    this.ws.data.dialect = dialect;
  }

  send(frame: object): void {
    this.sendText(JSON.stringify(frame), frame);
  }

  sendText(text: string, frame?: object, pieces?: Pieces): void {
    const { data } = this.ws;
    if (!data.open) return;
    data.passing?.('out', text);
    this.outbox.send(text, frame, pieces);
  }

  close(code: number, reason: string): void {
    this.ws.close(code, reason);
  }

  tap(pass: Passing | null): void {
    this.ws.data.passing = pass;
  }
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
  if (jsonNestsDeeper(text)) return { reason: 'the message is nested too deeply' };
  try {
    return { frame: JSON.parse(text) };
  } catch {
    return { reason: 'the message is not valid JSON' };
  }
}
