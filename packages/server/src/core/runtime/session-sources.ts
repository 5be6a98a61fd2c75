import type { DurableEvent } from '@parlance/protocol';
import type { SessionState } from '../domain/session-state.ts';
import type { Bus } from '../ports/bus.ts';
import type { EventStore, SessionRef } from '../ports/event-store.ts';
import type { Leases } from '../ports/lease.ts';
import type { Log } from '../ports/logger.ts';
import type { SessionNetwork } from './session-link.ts';
import type { ObservedSession } from './snapshot.ts';

/** The dependencies of a session in memory. */
export type SessionSources = {
  readonly store: EventStore;
  readonly bus: Bus<ObservedSession>;
  readonly leases: Leases;
  /** whether other nodes may write to the same sessions */
  readonly shared: boolean;
  readonly network?: SessionNetwork;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
  /** called with stored events and the state before them */
  readonly onCommitted?: (ref: SessionRef, events: readonly DurableEvent[], before: SessionState) => void;
};
