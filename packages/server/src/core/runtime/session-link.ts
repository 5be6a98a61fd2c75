/** What connects a session in memory with the nodes that drive or watch it. A single node has none. */
import type { DurableEvent, EphemeralEvent } from '@parlance/protocol';
import type { SessionState } from '../domain/session-state.ts';
import type { Driver } from '../ports/lease.ts';
import type { SessionRef } from '../ports/session-ref.ts';
import type { DriverRole } from './driver-role.ts';
import type { OpenArguments } from './open-arguments.ts';
import type { Delta, OpenBlock } from './open-block.ts';

export interface SessionLink {
  /** Someone on this node receives what another node does in the session. */
  readonly followed: boolean;
  /** To the nodes that watch the session; on the token path: nothing is done if there are none. */
  publish(event: EphemeralEvent): void;
  /** Events that are stored, to the nodes that watch or drive the session. */
  committed(events: readonly DurableEvent[], driver: Driver | null): void;
  /** Other nodes send their events from now on. Returns what ends that. */
  watch(): () => void;
  /** Resolves when the session is up to date, with the open block of the node that drives it as far as that answers. */
  join(): Promise<void>;
  /** Has the node that drives the session stop for an interruption, and tell what it has streamed. */
  stop(): Promise<void>;
  /** Whether another node watches the session, as far as messages tell. */
  isWatchedElsewhere(): Promise<boolean>;
  close(): void;
}

/** As much of a session as its link needs. */
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
