/** The seam between transports (bytes) and dialects (meaning): one socket, seen from either side. */
import type { ConnectionId, Fault, Principal } from '@parlance/protocol';

/** Frames that carry a longer text piece by piece. Such frames that follow each other can be sent as one. */
export interface Pieces<Frame extends object = object> {
  /** what the frame is a piece of; null where it is none */
  key(frame: Frame): string | null;
  text(frame: Frame): string;
  /** a frame like this one, with that text */
  with(frame: Frame, text: string): Frame;
}

/** Sees a frame as it is on the wire. */
export type FrameTap = (direction: 'in' | 'out', text: string) => void;

/** What a dialect holds of a socket. After the socket is closed, sending does nothing. */
export interface Socket {
  readonly id: ConnectionId;
  /** who the socket's token names; null where it carried none and one is required */
  readonly principal: Principal | null;
  /** the `?session=` it was opened with */
  readonly session: string | null;
  readonly open: boolean;
  /** the dialect that is spoken on it, as soon as that is known: it is counted under that name */
  speaks(dialect: string): void;
  send(frame: object): void;
  /**
   * Sends a frame that is already encoded; it may be shared by many sockets. Where the reader is behind, frames wait:
   * with the frame that `text` encodes, and what it may be a piece of, many become one.
   */
  sendText(text: string, frame?: object, pieces?: Pieces): void;
  close(code: number, reason: string): void;
  /** From now on `pass` sees every frame in both directions; null: nobody does, which costs nothing. */
  tap(pass: FrameTap | null): void;
}

/** What a transport holds of a dialect: the reading side of one socket. */
export interface Connection {
  /** Comes first, once; frames wait until it is done. */
  opened?(): void | Promise<void>;
  /**
   * A frame that is JSON, whatever its shape. Frames are handed over one by one, in order; `arrivedAt` (in ms since 1970)
   * is when the frame came in, before it waited for those ahead of it.
   */
  receive(frame: unknown, arrivedAt: number): void | Promise<void>;
  /** A frame that could not be read: not JSON, not UTF-8, too large. `reason` says which. */
  onInvalidFrame(reason: string): void | Promise<void>;
  /** A frame was not read, because the socket has sent too many: say so and when to try again. Out of turn. */
  onRateLimited?(fault: Fault): void;
  /** Who has said who they are since the socket was opened; absent where that cannot be said on a socket. */
  identified?(): Principal | null;
  /** True if a caller with a token has vouched for the peer, which itself stays nobody. */
  vouched?(): boolean;
  /**
   * False while the peer has done nothing yet that a stranger cannot do at no cost: its frames have to be small. Absent
   * where the token alone decides that.
   */
  established?(): boolean;
  /** The socket is gone. Turns go on. `unsent` are the frames that never left because the reader was behind. */
  closed(unsent: readonly object[]): void;
  /** The server is draining: say so in the dialect's words. The transport closes the socket afterwards. */
  draining(): void;
}

/** A reader of server-sent events, as a dialect sees it. */
export interface Reader {
  /** nothing reaches it any more */
  readonly gone: boolean;
  /** Resolves when the reader has been sent everything; at once where it keeps up, or is gone. */
  ready(): Promise<void>;
  /** As `Socket.sendText`. False where the reader is too far behind, or gone: the event was not taken. */
  send(text: string, frame?: object, pieces?: Pieces): boolean;
  /**
   * Resolves with what was dropped when the reader was too far behind; with null when it is gone. After that events
   * are taken again, when it is `ready`.
   */
  lost(): Promise<readonly (object | undefined)[] | null>;
}

/** Watches over the right to be here: calls `ended` when it is lost. Returns what ends the watch. */
export type OnTokenRevoked = (ended: (reason: string) => void) => () => void;

/** Answers a request with server-sent events: `tell` sends them, and when it is done the answer ends. */
export type OpenStream = (
  request: Request,
  stream: {
    readonly dialect: string;
    readonly encode: (frame: object) => string;
    readonly tell: (reader: Reader) => Promise<void>;
    readonly onTokenRevoked?: OnTokenRevoked;
  },
) => Response;
