/** The plan that the agent works by: the input of its last `update_plan` that was taken. */
import type { DurableEvent, Json } from '@parlance/protocol';
import type { CallView, PlanStep, PlanView } from './shapes.ts';

const STATUSES: readonly string[] = ['pending', 'in_progress', 'completed'] satisfies PlanStep['status'][];

/** Null where the call made no plan. */
export function planOf(call: CallView | null, event: DurableEvent<'tool.ended'>): PlanView | null {
  if (call?.tool !== 'update_plan' || event.outcome !== 'ok') return null;
  const { steps, explanation } = call.input;
  if (!Array.isArray(steps) || !steps.every(isStep)) return null;
  return {
    steps,
    ...(typeof explanation === 'string' ? { explanation } : {}),
    at: event.at,
    seqs: [...call.seqs, event.seq],
  };
}

/** The tool has checked it; a tool of that name from elsewhere may mean something else by it. */
const isStep = (value: Json): value is PlanStep =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  typeof value.step === 'string' &&
  STATUSES.includes(String(value.status));
