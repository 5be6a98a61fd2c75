/** The pending question of a task: an approval, or a question of the agent to the user. */
import type { ApprovalId, CallId } from '@parlance/protocol';
import { type SessionRef, type SessionSnapshot, sessionKey } from '../../core/api/index.ts';

export type Question =
  | { readonly kind: 'approval'; readonly approval: ApprovalId }
  | { readonly kind: 'ask'; readonly call: CallId };

/** A reply whose call has no response yet. */
export type PendingReply = { readonly session: string; readonly question: Question };

export function questionOf({ approval, deferred: [deferred] }: SessionSnapshot): Question | null {
  if (approval) return { kind: 'approval', approval: approval.approval };
  return deferred?.tool === 'browser_ask' ? { kind: 'ask', call: deferred.call } : null;
}

export const isSame = (one: Question, other: Question | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** A question that follows an earlier reply is first shown in the response to that reply. */
export const isShown = (question: Question, ref: SessionRef, earlier: readonly PendingReply[]): boolean =>
  earlier.every((reply) => reply.session !== sessionKey(ref) || isSame(reply.question, question));
