/** Reads checkpoints of this version and of older ones. */

import { NOTHING_SPENT } from '@parlance/protocol';
import type { SessionRecord, SessionRef } from '../ports/event-store.ts';
import { isIdle, pendingId, type SessionState, STATE_VERSION, statusOf } from './session-state.ts';

type StoredState = Readonly<Record<string, unknown>>;

/**
 * Converts a version to the next. A checkpoint of a version without an entry is ignored and the state is
 * folded from the log: that version is too old, or counts some events differently.
 */
const UPCASTS: Readonly<Record<number, (state: StoredState) => StoredState>> = {
  9: ({ said, ...state }) => ({ ...state, messageCount: said }),
  10: (state) => ({ ...state, pinned: false, tags: [] }),
  11: (state) => ({ ...state, spent: NOTHING_SPENT, limit: null, announced: [] }),
};

/** Null if there is no usable checkpoint: the state must be folded from the first event. */
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

// The session record that is stored with the events.

/** Null if the session is not idle: the previous checkpoint is kept. */
export const checkpointOf = (state: SessionState): SessionRecord['checkpoint'] =>
  isIdle(state) ? { version: STATE_VERSION, seq: state.seq, state: JSON.stringify(state) } : null;

export const recordOf = (
  ref: SessionRef,
  state: SessionState,
  checkpoint: SessionRecord['checkpoint'],
): SessionRecord => ({
  ref,
  dialect: state.created?.dialect ?? '',
  domain: state.created?.domain ?? '',
  agent: state.agent.id,
  title: state.title,
  renamed: state.renamed,
  firstInput: state.firstInput,
  status: statusOf(state),
  pending: (pendingId(state) ?? null) as SessionRecord['pending'],
  archived: state.archived,
  ephemeral: state.created?.ephemeral === true,
  parent: state.created?.parent?.session ?? null,
  pinned: state.pinned,
  tags: state.tags,
  labels: state.labels,
  messageCount: state.messageCount,
  lastModel: state.lastModel,
  createdAt: state.created?.at ?? state.updatedAt,
  updatedAt: state.updatedAt,
  head: state.seq,
  checkpoint,
});
