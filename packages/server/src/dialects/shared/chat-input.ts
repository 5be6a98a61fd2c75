/** For dialects without approval frames: a chat message answers the approval that waits, or is an ordinary input. */
import { Fault, textPart } from '@parlance/protocol';
import {
  type Caller,
  type Engine,
  type PendingApproval,
  type SessionRef,
  spokenAnswer,
} from '../../core/api/index.ts';

export type Chat = {
  readonly ref: SessionRef;
  readonly text: string;
  /** when the message came in: it may have waited since, and answers no approval that was requested after that */
  readonly arrivedAt: number;
  /** whether the client named the session that the message may create; true if absent */
  readonly named?: boolean;
};

/**
 * Sends the message. Of several replies to one question the first is its answer; the others are ordinary inputs, even if
 * another question has been asked by the time they are read.
 * True if the message was neither, so that it now queues behind the approval.
 */
export async function sendChat(engine: Engine, chat: Chat, caller: Caller): Promise<boolean> {
  const { ref, text, named, arrivedAt } = chat;
  const { approval, approvalRequestedAt } = await engine.snapshot(ref);
  const wasAsked = approvalRequestedAt !== null && approvalRequestedAt <= arrivedAt;
  const answer = wasAsked ? spokenAnswer(text) : null;
  if (approval && answer && (await answered(engine, chat, { approval, answer, caller }))) return false;
  await engine.send(ref, { type: 'input.submit', parts: [textPart(text)], named }, caller);
  return approval !== null && answer === null;
}

type Reply = {
  readonly approval: PendingApproval;
  readonly answer: 'once' | 'deny';
  readonly caller: Caller;
};

/** False if another client was first. */
async function answered(engine: Engine, { ref, text }: Chat, reply: Reply): Promise<boolean> {
  const { answer, caller } = reply;
  const { approval } = reply.approval;
  try {
    await engine.send(ref, { type: 'approval.answer', approval, answer, said: text.trim() }, caller);
    return true;
  } catch (thrown) {
    if (thrown instanceof Fault && (thrown.code === 'no_approval' || thrown.code === 'not_found'))
      return false;
    throw thrown;
  }
}
