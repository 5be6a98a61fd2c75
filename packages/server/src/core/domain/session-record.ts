/** The session record that is stored with the events. */
import type { SessionRecord, SessionRef } from '../ports/event-store.ts';
import { isIdle, type SessionState, STATE_VERSION, statusOf, waitingCall } from './session-state.ts';

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
  approval: waitingCall(state)?.approval ?? null,
  archived: state.archived,
  ephemeral: state.created?.ephemeral === true,
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
