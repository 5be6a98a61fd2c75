/** Since 2026-07-28 a client that was asked for input repeats the call of the tool, with the answers. */
import { type ApprovalId, Fault } from '@parlance/protocol';
import { invalidParams, type Params } from '../../kit/json-rpc.ts';
import { answerIn } from '../approval-form.ts';
import type { Context } from '../context.ts';
import { decodeState } from '../follow-state.ts';
import type { ToolCall } from '../tool-call.ts';
import type { FollowedTurn } from '../turn-watch.ts';

/** The turn that the earlier call followed; null if there was none. Passes the answers to the core. */
export async function continued(ctx: Context, call: ToolCall): Promise<FollowedTurn | null> {
  const { requestState, inputResponses, principal } = call;
  if (requestState === undefined) return null;
  const decoded = await decodeState(ctx.engine, principal, requestState);
  if (!decoded) throw invalidParams('The requestState is not one of this server.');
  for (const [approval, response] of Object.entries(inputResponses))
    await answerApproval(ctx, principal, { approval, response: response as Params });
  return decoded.followed;
}

type FormAnswer = { readonly approval: string; readonly response: Params };

/** The first answer wins; a late one is ignored. */
export async function answerApproval(
  { engine }: Pick<Context, 'engine'>,
  principal: ToolCall['principal'],
  { approval, response }: FormAnswer,
): Promise<void> {
  try {
    const caller = { principal, dialect: 'mcp' };
    await engine.answer(approval as ApprovalId, { answer: answerIn(response) }, caller);
  } catch (thrown) {
    if (!(thrown instanceof Fault) || !LATE.has(thrown.code)) throw thrown;
  }
}

const LATE: ReadonlySet<string> = new Set(['no_approval', 'not_found']);
