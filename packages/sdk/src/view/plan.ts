/** The agent's plan: the input of its last successful `update_plan`. */
import type { DurableEvent, Json } from '@parlance/protocol';
import type { CallView, PlanStep, PlanView } from './shapes.ts';

const STATUSES: readonly string[] = ['pending', 'in_progress', 'completed'] satisfies PlanStep['status'][];

/** Null if the call was not a plan update. */
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

/** The built-in tool validates its input, but an MCP tool may have the same name. */
const isStep = (value: Json): value is PlanStep =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  typeof value.step === 'string' &&
  STATUSES.includes(String(value.status));
