/** Notifies other nodes of new events through the store, while bus messages may not arrive. */
import type { SessionRef } from './session-ref.ts';

export interface WakeUps {
  /** Whether some node is not receiving messages. */
  readonly needed: boolean;
  /** Returns immediately; never throws. Lost notifications are covered by polling. */
  notify(ref: SessionRef): void;
  /** Called with a predicate for the announced sessions, including this node's own. */
  listen(listener: (concerns: (ref: SessionRef) => boolean) => void): () => void;
}
