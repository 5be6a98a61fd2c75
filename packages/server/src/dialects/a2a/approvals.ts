/** In: a message to a task that waits for an approval. */
import { type ApprovalAnswer, type ApprovalId, Fault, isObject } from '@parlance/protocol';
import { answerInText, type Caller } from '../../core/api/index.ts';
import type { Context } from './context.ts';
import { RpcFault } from './faults.ts';
import { ANSWER_ID } from './messages.ts';
import { paramsOf } from './rpc.ts';
import { ApprovalPart, type SentMessage } from './schemas.ts';
import type { IndexedTask } from './tasks.ts';

type Answer = {
  readonly approval: ApprovalId;
  readonly answer: ApprovalAnswer;
  readonly reason?: string;
  readonly said?: string;
};

/** Throws −32004 if the approval is no longer pending. */
export async function answerApproval(
  { engine }: Pick<Context, 'engine'>,
  { id, ref }: Pick<IndexedTask, 'id' | 'ref'>,
  { message, caller }: { readonly message: SentMessage; readonly caller: Caller },
): Promise<void> {
  const { approvals } = await engine.snapshot(ref);
  const [first] = approvals.filter(({ turn }) => turn === id);
  if (!first) throw notPending();
  const answers = answersOf(message, first.approval);
  const attributes = { [ANSWER_ID]: message.messageId };
  for (const answer of answers) {
    try {
      await engine.send(ref, { type: 'approval.answer', ...answer, attributes }, caller);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      if (thrown.code === 'no_approval') throw notPending();
      if (thrown.code === 'not_found')
        throw new RpcFault('INVALID_PARAMS', 'The task has no such pending approval.');
      throw thrown;
    }
  }
}

export const notPending = (): RpcFault =>
  new RpcFault('UNSUPPORTED_OPERATION', 'The task is not waiting for input.');

/** Data parts that name an approval, or plain text about the approval that is shown. */
function answersOf({ parts }: SentMessage, shown: ApprovalId): Answer[] {
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
  if (data.length > 0)
    return data.map((value) => {
      const { approval, ...answer } = paramsOf(ApprovalPart, isObject(value) ? value : {});
      return { approval: approval as ApprovalId, ...answer };
    });
  const words = parts
    .flatMap(({ text }) => text ?? [])
    .join('\n')
    .trim();
  if (words === '') throw new RpcFault('INVALID_PARAMS', 'message.parts: an answer is a text or a data part');
  return [{ approval: shown, ...wordsAnswer(words) }];
}

const ALWAYS = /^(?:yes[, ]+)?always(?:\.|!+)?$/i;
const MAX_ANSWER_LENGTH = 100;
const MAX_REASON_LENGTH = 10_000;

/** Anything but consent is a denial, with the text as its reason. */
function wordsAnswer(words: string): Omit<Answer, 'approval'> {
  const said = words.length <= MAX_ANSWER_LENGTH ? { said: words } : {};
  if (ALWAYS.test(words)) return { answer: 'always', ...said };
  const spoken = answerInText(words);
  if (spoken !== null) return { answer: spoken, ...said };
  return { answer: 'deny', reason: words.slice(0, MAX_REASON_LENGTH).toWellFormed(), ...said };
}
