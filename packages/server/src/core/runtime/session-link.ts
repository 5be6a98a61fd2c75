/** Connects a session in memory with the nodes that drive or watch it. A single node has no link. */
import type { DurableEvent, EphemeralEvent } from '@parlance/protocol';
import type { SessionState } from '../domain/session-state.ts';
import type { Driver } from '../ports/lease.ts';
import type { SessionRef } from '../ports/session-ref.ts';
import type { DriverRole } from './driver-role.ts';
import type { OpenArguments } from './open-arguments.ts';
import type { Delta, OpenBlock } from './open-block.ts';

export interface SessionLink {
  /** Whether a client on this node follows the session on another node. */
  readonly followed: boolean;
  /** Sends to the nodes that watch the session. On the token path: does nothing if there are none. */
  publish(event: EphemeralEvent): void;
  /** Sends stored events to the nodes that watch or drive the session. */
  committed(events: readonly DurableEvent[], driver: Driver | null): void;
  /** Makes other nodes send their events. Returns a function that ends this. */
  watch(): () => void;
  /** Resolves when the session is up to date, including the open block of the driving node if it responds. */
  join(): Promise<void>;
  /** Asks the driving node to stop for an interruption, and applies the output that it has streamed. */
  stop(): Promise<void>;
  /** Whether another node watches the session, according to the registry. */
  isWatchedElsewhere(): Promise<boolean>;
  close(): void;
}

/** The part of a session that its link uses. */
export interface LinkedSession {
  readonly ref: SessionRef;
  readonly state: SessionState;
  readonly open: OpenBlock | null;
  readonly openArguments: OpenArguments;
  readonly role: DriverRole;
  readonly eventsSinceIdle: readonly DurableEvent[];
  show(delta: Delta, text?: string): void;
  pass(event: EphemeralEvent): void;
  received(events: readonly DurableEvent[], driver: Driver | null): Promise<void>;
  fresh(): Promise<void>;
}

export interface SessionNetwork {
  link(session: LinkedSession): SessionLink;
}
