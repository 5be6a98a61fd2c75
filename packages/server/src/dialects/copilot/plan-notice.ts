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
  const isNew = event.type === 'tool.ended' && !event.final;
  const content = isNew ? planWords(plan, messageType) : progressWords(plan, ended);
  return { ...base, content, metadata: { taskId, messageType, plan } };
}

const TITLES = { plan_preview: 'Plan:', plan_update: 'New plan:' } as const;

/** Clients that do not know plans show these as messages: the whole plan only if it is new. */
function planWords({ steps }: Plan, messageType: keyof typeof TITLES): string {
  const title = TITLES[messageType];
  const [only] = steps;
  if (steps.length === 1) return `${title} ${only?.description}`;
  return [title, ...steps.map(({ index, description }) => `${index + 1}. ${description}`)].join('\n');
}

function progressWords({ steps, currentStepIndex }: Plan, ended: 'completed' | 'failed' | null): string {
  const step = `step ${currentStepIndex + 1} of ${steps.length}: ${steps[currentStepIndex]?.description}`;
  if (ended === 'completed') return steps.length === 1 ? 'Plan done.' : `Plan done: ${steps.length} steps.`;
  return ended === 'failed' ? `Stopped at ${step}` : step.replace('step', 'Step');
}
