/** The response to a call of `/api/agent/interact`, and the event for other devices. */
import { parseAction } from '@parlance/copilot';
import type { JsonObject } from '@parlance/protocol';
import type { Interaction } from './interact.ts';
import type { Task } from './task.ts';

/** Deployed clients read some fields from `data` and some from the top level: all are in both. */
export function interactBody({ sessionId, task }: Interaction, requestDuration: number): object {
  if (task.question) return { success: true, data: question(sessionId, task), ...question(sessionId, task) };
  if (task.needsFullDom !== null) {
    const data = wholePage(sessionId, task, task.needsFullDom);
    return { success: true, data, ...data };
  }
  const { plan, verification, correction, expectedOutcome, webSearches, usage, actionCount } = task;
  const data = {
    thought: task.thought,
    action: task.action,
    taskId: task.taskId,
    sessionId,
    status: task.status,
    ...planned(plan),
    usage,
    metrics: { requestDuration, stepIndex: plan?.currentStepIndex ?? 0, actionCount },
    ...(verification ? { verification } : {}),
    ...(correction ? { correction } : {}),
    ...(expectedOutcome ? { expectedOutcome } : {}),
    ...toolAction(task),
    ...(webSearches.length > 0
      ? { webSearchPerformed: true, webSearchSummary: webSearches.join('\n').slice(0, 2_000) }
      : {}),
  };
  return { success: true, data, ...data };
}

const question = (sessionId: string, { taskId, thought, question: asked, plan, webSearches }: Task) => ({
  status: 'needs_user_input',
  thought,
  userQuestion: asked?.userQuestion ?? '',
  missingInformation: asked?.missingInformation ?? [],
  context: { searchPerformed: webSearches.length > 0, reasoning: asked?.reasoning ?? '' },
  taskId,
  sessionId,
  ...planned(plan),
});

/** These clients call again at once, with the whole page as `dom`. */
const wholePage = (sessionId: string, { taskId, thought, plan }: Task, needsFullDomReason: string) => ({
  status: 'needs_full_dom',
  requestedDomMode: 'full',
  needsFullDomReason,
  thought,
  taskId,
  sessionId,
  ...planned(plan),
});

const planned = (plan: Task['plan']) =>
  plan ? { plan, currentStep: plan.currentStepIndex, totalSteps: plan.steps.length } : {};

function toolAction({ action, status }: Task): object {
  const parsed = parseAction(action);
  if (!parsed || status === 'completed' || status === 'failed') return {};
  const { name, ...parameters } = parsed;
  return {
    toolAction: { toolName: name, toolType: 'DOM', parameters },
    // Some clients send a picture only if they are asked in this way.
    ...(name === 'screenshot' && { needsScreenshot: true }),
  };
}

/** Published before the call is answered. */
export const interactPush = ({ sessionId, task }: Interaction) => ({
  type: 'interact_response',
  sessionId,
  data: {
    taskId: task.taskId,
    action: task.question || task.needsFullDom !== null ? null : task.action,
    thought: task.thought,
    status: task.status,
    currentStepIndex: task.plan?.currentStepIndex ?? 0,
    verification: task.verification as JsonObject | null,
    correction: task.correction as JsonObject | null,
  },
});
