/** One WebSocket as a dialect sees it, and its state. */
import type { ConnectionId, Principal, SessionId } from '@parlance/protocol';
import type { ServerWebSocket } from 'bun';
import type { Meter } from '../core/ports/telemetry.ts';
import type { Peer } from './anonymous-sockets.ts';
import type { Connection, FrameTap, OnTokenRevoked, Pieces, Socket } from './connection.ts';
import type { ReceiveQueue } from './receive-queue.ts';
import type { FrameWriter, Lag, SendBuffer } from './send-buffer.ts';
import type { CountedSocket } from './socket-counts.ts';
import type { TokenBucket } from './token-bucket.ts';

/** Properties of a socket when it is opened. */
export type Opening = {
  readonly id: ConnectionId;
  readonly principal: Principal | null;
  readonly session: string | null;
  /** the header of the answer to the handshake that names the connection */
  readonly idHeader?: string | undefined;
  readonly origin?: string | null;
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** index of its listener; the default one if absent */
  readonly listener?: number;
  /** the client address, if it is counted */
  readonly address?: string;
  /** the peer has not authenticated yet, and must do so */
  readonly unknown?: boolean;
  /** an unauthenticated peer has no deadline, because some endpoints need no token */
  readonly mayStay?: boolean;
  readonly onTokenRevoked?: OnTokenRevoked | undefined;
  /**
   * the connection of the dialect, or a close code and reason, sent after the upgrade so that the client sees
   * them
   */
  readonly accept: ((socket: Socket) => Connection) | { readonly code: number; readonly reason: string };
};

export type Data = {
  readonly opening: Opening;
  connection: Connection | null;
  receiveQueue: ReceiveQueue | null;
  sendBuffer: SendBuffer | null;
  dialect: string;
  /** observer of the frames, if any */
  tap: FrameTap | null;
  open: boolean;
  /** frames read after the token was revoked are ignored */
  dismissed: boolean;
  stopTokenWatch: (() => void) | null;
  readonly place: CountedSocket;
  /** null once the peer has authenticated */
  peer: Peer | null;
  readonly rate: TokenBucket;
  /** number of refused frames minus accepted ones since */
  refused: number;
  /** closes the socket if it does not authenticate in time */
  deadline: ReturnType<typeof setTimeout> | undefined;
};

/** One object per socket and no closures: there are thousands of them. */
export class SocketWriter implements FrameWriter, Lag {
  constructor(
    private readonly ws: ServerWebSocket<Data>,
    private readonly meter: Meter,
  ) {}

  sendText(text: string): number {
    return this.ws.sendText(text);
  }

  disconnect(): void {
    this.ws.close(1013, 'Reader too slow: reconnect to continue');
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

/** The connection as the dialect uses it. */
export class DialectSocket implements Socket {
  answers?: (session: SessionId) => boolean;

  constructor(
    private readonly ws: ServerWebSocket<Data>,
    private readonly sendBuffer: SendBuffer,
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

  get origin(): string | null | undefined {
    return this.ws.data.opening.origin;
  }

  get params(): Readonly<Record<string, string>> | undefined {
    return this.ws.data.opening.params;
  }

  get open(): boolean {
    return this.ws.data.open;
  }

  get behind(): boolean {
    return this.sendBuffer.behind;
  }

  setDialect(dialect: string): void {
    this.ws.data.dialect = dialect;
  }

  sendFrame(frame: object): void {
    this.send(JSON.stringify(frame), frame);
  }

  send(text: string, frame?: object, pieces?: Pieces): void {
    const { data } = this.ws;
    if (!data.open) return;
    data.tap?.('out', text);
    this.sendBuffer.send(text, frame, pieces);
  }

  close(code: number, reason: string): void {
    this.ws.close(code, reason);
  }

  tap(observe: FrameTap | null): void {
    this.ws.data.tap = observe;
  }
}
