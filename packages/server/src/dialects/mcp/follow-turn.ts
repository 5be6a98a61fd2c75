/** Answers a call with the outcome of a turn: its result, a form for the user, or its state on timeout. */
import { Fault } from '@parlance/protocol';
import { formOf } from './approval-form.ts';
import { ApprovalForms } from './approval-forms.ts';
import type { Context } from './context.ts';
import { encodeState } from './follow-state.ts';
import { Progress } from './progress.ts';
import { CALL_CANCELLED, type ToolCall } from './tool-call.ts';
import { turnResult } from './turn-result.ts';
import { type FollowedTurn, TurnWatch } from './turn-watch.ts';

/** Lets a loop wait for any of several changes. */
class WakeUp {
  #changed = Promise.withResolvers<void>();

  readonly wake = (): void => this.#changed.resolve();

  async wait(): Promise<void> {
    await this.#changed.promise;
    this.#changed = Promise.withResolvers();
  }
}

export async function followTurn(ctx: Context, call: ToolCall, followed: FollowedTurn): Promise<object> {
  const { engine, now, settings } = ctx;
  const { signal, until, stream, peer } = call;
  const wakeUp = new WakeUp();
  const turn = new TurnWatch(followed, { textChanged: () => progress.update(), changed: wakeUp.wake });
  const progress = new Progress(call, {
    text: () => turn.text,
    elapsed: () => now() - until + settings.toolCallWithin,
  });
  const forms = new ApprovalForms(ctx, call, wakeUp.wake);
  let isLate = false;
  const late = () => {
    isLate = true;
    wakeUp.wake();
  };
  const timer = setTimeout(late, Math.max(0, until - now()));
  signal.addEventListener('abort', wakeUp.wake);
  try {
    if (peer.era === 'legacy' && peer.version >= '2025-11-25')
      stream?.prime(encodeState(followed, { request: call.id, progress: call.progressToken, until }));
    await turn.open(engine);
    for (;;) {
      if (signal.aborted) return await takenBack(ctx, call, turn);
      if (turn.end || isLate) return turnResult(turn);
      if (turn.approvals.length > 0 && !mayAsk(call)) return turnResult(turn);
      if (turn.approvals.length > 0 && peer.era === 'modern') return inputRequired(turn);
      forms.show(turn.approvals);
      if (forms.isRefused) return turnResult(turn);
      await wakeUp.wait();
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', wakeUp.wake);
    forms.close();
    progress.stop();
    turn.stop();
  }
}

/** Whether the user of the client can be asked, and has the permission to decide. */
const mayAsk = ({ peer, stream, principal }: ToolCall): boolean =>
  peer.hasForms &&
  (peer.era === 'modern' || stream !== null) &&
  principal.permissions.includes('tool:approve');

const inputRequired = ({ followed, approvals }: TurnWatch) => ({
  resultType: 'input_required' as const,
  inputRequests: Object.fromEntries(
    approvals.map((pending) => [
      pending.approval,
      { method: 'elicitation/create', params: formOf(pending, '2026-07-28') },
    ]),
  ),
  requestState: encodeState(followed),
});

async function takenBack(ctx: Context, { signal, principal }: ToolCall, turn: TurnWatch): Promise<object> {
  // Streams also close when the server shuts down; its turns continue after the next start.
  if (signal.reason !== CALL_CANCELLED || ctx.engine.draining) return turnResult(turn);
  const { followed, text } = turn;
  try {
    const command = { type: 'turn.cancel', turn: followed.turn } as const;
    await ctx.engine.send(followed.ref, command, { principal, dialect: 'mcp' });
  } catch (thrown) {
    // The turn has already ended.
    if (!(thrown instanceof Fault && thrown.code === 'no_turn')) throw thrown;
  }
  return turnResult({ followed, text, end: { status: 'cancelled' }, approvals: [] });
}
