/** The messages about the plan of a task. */
import type { PlanProgress } from '@parlance/copilot';
import type { DurableEvent } from '@parlance/protocol';
import type { CopilotMessage } from './message.ts';
import { type Plan, planOf } from './task.ts';

/** Shows the plan when it is set, when another step starts, and when the task ends. */
export function noticeOf(
  event: DurableEvent,
  state: { readonly next: number; readonly plan: PlanProgress | null },
  progress: PlanProgress | null,
): CopilotMessage | null {
  if ((event.type !== 'tool.ended' && event.type !== 'call.deferred') || !event.notice) return null;
  const base = {
    messageId: event.id,
    role: 'system',
    sequenceNumber: state.next,
    timestamp: new Date(event.at).toISOString(),
  } as const;
  const taskId = event.turn;
  if (progress?.turn !== taskId) return { ...base, content: '', metadata: { taskId } };
  const ended =
    event.type === 'tool.ended' && event.final ? (event.outcome === 'ok' ? 'completed' : 'failed') : null;
  const plan = planOf(progress, ended);
  const messageType = state.plan?.turn === taskId ? 'plan_update' : 'plan_preview';
  return { ...base, content: planWords(plan), metadata: { taskId, messageType, plan } };
}

const MARKS = { pending: '', active: '', completed: ' (done)', failed: ' (failed)' } as const;

const planWords = ({ steps }: Plan): string =>
  [
    'The plan:',
    ...steps.map(({ index, description, status }) => `${index + 1}. ${description}${MARKS[status]}`),
  ].join('\n');
