/** Notifies other nodes through the store that a session has new events, while messages between nodes may not arrive. */
import type { SessionRef } from './session-ref.ts';

export interface WakeUps {
  /** Some node is without messages of the others. */
  readonly needed: boolean;
  /** Returns at once; never throws. What gets lost is found by polling. */
  notify(ref: SessionRef): void;
  /** Called with a predicate for the announced sessions, including this node's own. */
  listen(listener: (concerns: (ref: SessionRef) => boolean) => void): () => void;
}
