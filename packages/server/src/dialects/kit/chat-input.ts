/**
 * For dialects without approval frames: a chat message answers the pending approval or question, or is an ordinary input.
 */
import { Fault, textPart } from '@parlance/protocol';
import {
  answerInText,
  type Caller,
  type Engine,
  type PendingApproval,
  type SessionRef,
} from '../../core/index.ts';

export type Chat = {
  readonly ref: SessionRef;
  readonly text: string;
  /**
   * When the message arrived. It may have been queued, and does not answer an approval that was requested
   * later.
   */
  readonly arrivedAt: number;
  /** whether the client named the session that the message may create; true if absent */
  readonly named?: boolean;
};

/**
 * Sends the message. The first reply to an approval answers it; later replies are ordinary inputs, even if
 * another approval is pending by then. Returns the pending approval if the message is no reply: it is queued
 * behind the approval.
 */
export async function sendChat(engine: Engine, chat: Chat, caller: Caller): Promise<PendingApproval | null> {
  const { ref, text, named, arrivedAt } = chat;
  const { approval, approvalRequestedAt, questions } = await engine.snapshot(ref);
  const wasAsked = approvalRequestedAt !== null && approvalRequestedAt <= arrivedAt;
  const answer = wasAsked ? answerInText(text) : null;
  if (approval && answer) {
    const reply = { approval: approval.approval, answer, said: text.trim() };
    if (await inTime(engine.send(ref, { type: 'approval.answer', ...reply }, caller))) return null;
  }
  const [asked] = questions;
  const answers = asked !== undefined && asked.at <= arrivedAt;
  const parts = [textPart(text)];
  const { events } = await engine.send(ref, { type: 'input.submit', parts, named, answers }, caller);
  if (events.some((event) => event.type === 'input.accepted' && event.answers !== undefined)) return null;
  return answer === null ? approval : null;
}

/** False if another client answered first. */
export async function inTime(sent: Promise<unknown>): Promise<boolean> {
  try {
    await sent;
    return true;
  } catch (thrown) {
    if (thrown instanceof Fault && (thrown.code === 'no_approval' || thrown.code === 'not_found'))
      return false;
    throw thrown;
  }
}
