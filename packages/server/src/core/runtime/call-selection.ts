/** Selects the calls of a turn that can continue now. Calls of one answer run in parallel, up to a limit. */
import type { CallId } from '@parlance/protocol';
import type { OpenCall } from '../domain/session-state.ts';
import type { ActiveTurn } from './active-turn.ts';
import { type CallPlan, planCall, planInterrupted } from './tool-call.ts';
import type { Runnable } from './tool-run.ts';

export type StartedCall = { readonly call: OpenCall; readonly runnable: Runnable; readonly alone: boolean };

export type PlannedCall = { readonly call: OpenCall; readonly plan: CallPlan };

export type Selection = {
  /** calls that can start together */
  readonly start: readonly StartedCall[];
  /** calls that request approval, end without running, or go to a client that may be disconnected */
  readonly settle: readonly PlannedCall[];
};

export type SelectionOptions = {
  readonly running: ReadonlyMap<CallId, Pick<StartedCall, 'alone'>>;
  /** plans made in an earlier pass */
  readonly plans: ReadonlyMap<CallId, CallPlan>;
};

/**
 * Looks at the open calls in order. A call that runs alone starts when no other call runs, and later calls
 * wait until it has ended; a call that waits for approval blocks only calls that must keep their order
 * (`exclusive: 'always'`).
 */
export async function selectCalls(
  active: ActiveTurn,
  calls: readonly OpenCall[],
  { running, plans }: SelectionOptions,
): Promise<Selection> {
  const { deps } = active;
  const limit = deps.catalog.agent(active.turn.agent.id).parallelCalls ?? deps.parallelCalls;
  const start: StartedCall[] = [];
  const settle: PlannedCall[] = [];
  const selection = { start, settle };
  let orderedWaits = false;
  for (const call of calls) {
    const ordered = deps.tools.get(call.tool)?.exclusive === 'always';
    const runningCall = running.get(call.call);
    if (call.phase === 'waiting') orderedWaits ||= ordered;
    if (runningCall?.alone || (call.phase === 'deferred' && ordered)) return selection;
    if (runningCall || call.phase === 'waiting' || call.phase === 'deferred') continue;
    if (ordered && orderedWaits) continue;
    const plan =
      call.phase === 'running'
        ? planInterrupted(active, call)
        : (plans.get(call.call) ?? (await planCall(active, call)));
    if (plan.kind !== 'run') {
      settle.push({ call, plan });
      if (plan.kind === 'ask') orderedWaits ||= ordered;
      continue;
    }
    const busy = running.size + start.length;
    if (busy >= (plan.alone ? 1 : limit)) return selection;
    if (plan.runnable.tool.deferred) settle.push({ call, plan });
    else start.push({ call, runnable: plan.runnable, alone: plan.alone });
    if (plan.alone) return selection;
  }
  return selection;
}
