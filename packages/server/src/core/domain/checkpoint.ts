/** The folded state of a session as it is stored beside its events, in this version and in older ones. */

import type { SessionRecord } from '../ports/event-store.ts';
import { type SessionState, STATE_VERSION } from './session-state.ts';

type StoredState = Readonly<Record<string, unknown>>;

/**
 * From the version of the key to the next. A version without a step counts some events differently or is too old: such a
 * checkpoint is not used, and the state is folded from the log.
 */
const UPCASTS: Readonly<Record<number, (state: StoredState) => StoredState>> = {
  9: ({ said, ...state }) => ({ ...state, messageCount: said }),
  10: (state) => ({ ...state, pinned: false, tags: [] }),
};

/** Null if there is no checkpoint that can be used: the state must be folded from the first event on. */
export function restoredState(checkpoint: SessionRecord['checkpoint']): SessionState | null {
  if (!checkpoint) return null;
  const { version, state } = checkpoint;
  if (version === STATE_VERSION) return JSON.parse(state) as SessionState;
  if (version > STATE_VERSION || !UPCASTS[version]) return null;
  let stored = JSON.parse(state) as StoredState;
  for (let from = version; from < STATE_VERSION; from++) {
    const step = UPCASTS[from];
    if (!step) return null;
    stored = step(stored);
  }
  return stored as SessionState;
}
