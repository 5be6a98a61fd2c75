/** The interface between HTTP (bytes) and dialects (frames): subscribers, sockets and event streams. */
import type { ConnectionId, Fault, Principal, SessionId } from '@parlance/protocol';

/** Frames that carry a longer text in pieces. Consecutive pieces of one text can be sent as one frame. */
export interface Pieces<Frame extends object = object> {
  /** Identifies the text that the frame is a piece of; null if it is not a piece. */
  key(frame: Frame): string | null;
  text(frame: Frame): string;
  /** Returns a copy of the frame with another text. */
  with(frame: Frame, text: string): Frame;
}

/** Observes encoded frames. */
export type FrameTap = (direction: 'in' | 'out', text: string) => void;

/**
 * Receives the frames of sessions: a WebSocket, a stream of server-sent events, a Pusher channel or a JSON-RPC pipe.
 *
 * @example
 * const pipe: Subscriber = {
 *   id,
 *   open: true,
 *   send: (text) => process.stdout.write(`${text}\n`),
 *   close: () => process.stdout.end(),
 * };
 * await hub.subscribe(ref, pipe);
 */
export interface Subscriber {
  readonly id: ConnectionId;
  /** False once it is closed; then `send` does nothing. */
  readonly open: boolean;
  /** True if it is not counted among the connections of a session. */
  readonly hidden?: boolean;
  /** Whether its client can answer questions about the session. Absent if it can. */
  answers?: (session: SessionId) => boolean;
  /**
   * Sends an encoded frame; many subscribers share one text. Never waits and never throws: an implementation that buffers
   * for a slow reader can merge frames, using the decoded `frame` and `pieces`.
   */
  send(text: string, frame?: object, pieces?: Pieces): unknown;
  close(code: number, reason: string): void;
  /** Sets the observer of the frames in both directions; null removes it. Absent if frames cannot be observed. */
  tap?(observe: FrameTap | null): void;
}

/** A WebSocket as a dialect sees it. */
export interface Socket extends Subscriber {
  /** The principal of the socket's token; null if there is none and one is required. */
  readonly principal: Principal | null;
  /** The `?session=` of its URL. */
  readonly session: string | null;
  /** The `Origin` of its handshake; null or absent if there is none. */
  readonly origin?: string | null | undefined;
  /** The parameters of path and query that its route names; absent if it names none. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** Sets the dialect that the socket is counted under. */
  setDialect(dialect: string): void;
  /** True if its reader is behind, so that frames are buffered. Absent if unknown. */
  readonly behind?: boolean;
  /** Encodes a frame and sends it to this socket only. */
  sendFrame(frame: object): void;
}

/** The inbound side of one socket, implemented by a dialect. */
export interface Connection {
  /** Called once, before any frame; frames wait until it has finished. */
  opened?(): void | Promise<void>;
  /**
   * Called with each JSON frame, one at a time and in order. `arrivedAt` (ms since 1970) is when the frame
   * arrived, before it waited in the queue.
   */
  receive(frame: unknown, arrivedAt: number): void | Promise<void>;
  /** Called for a frame that is not JSON, not UTF-8 or too large; see `reason`. */
  onInvalidFrame(reason: string): void | Promise<void>;
  /** Called immediately, out of order, for a frame that was dropped because the socket has sent too many. */
  onRateLimited?(fault: Fault): void;
  /** The principal that has authenticated in a frame; absent if the dialect has no such frame. */
  identified?(): Principal | null;
  /** True if an authenticated caller has authorized the peer, which itself stays anonymous. */
  isAuthorized?(): boolean;
  /**
   * False until the peer has done something that is costly for an anonymous peer; until then, its frames must
   * be small. Absent if only the token matters.
   */
  established?(): boolean;
  /**
   * Called after the socket has closed. Turns continue. `unsent` holds the buffered frames; `code` is the close
   * code, 1006 if the connection broke.
   */
  closed(unsent: readonly object[], code: number): void;
  /** Called before the server closes the socket on shutdown. */
  draining(): void;
}

/** A stream of server-sent events as a dialect sees it. */
export interface EventStream extends Subscriber {
  /** Resolves when everything has been written; immediately if the reader keeps up or is gone. */
  ready(): Promise<void>;
  /** False if the text was not accepted because the reader is too far behind or gone. */
  send(text: string, frame?: object, pieces?: Pieces): boolean;
  /**
   * Resolves with the dropped frames if the reader is too far behind, or with null when it is gone. After
   * that, `send` accepts frames again; wait for `ready` first.
   */
  lost(): Promise<readonly (object | undefined)[] | null>;
  /**
   * Sets how the stream ends if the server closes it: `tell` sends the last event and lets `produce` resolve. The
   * turn continues. Without it, the stream ends without an event of its own.
   */
  onClosing(tell: (fault: Fault) => void): void;
}

/** Calls `ended` when the token is revoked or expires. Returns a function that stops watching it. */
export type OnTokenRevoked = (ended: (reason: string) => void) => () => void;

/** Answers a request with server-sent events. The response ends when `produce` resolves. */
export type OpenStream = (
  request: Request,
  stream: {
    readonly dialect: string;
    readonly encode: (frame: object) => string;
    readonly produce: (stream: EventStream) => Promise<void>;
    readonly onTokenRevoked?: OnTokenRevoked;
    /** sent if the stream is otherwise idle; default: a comment */
    readonly keepAlive?: string;
  },
) => Response;
