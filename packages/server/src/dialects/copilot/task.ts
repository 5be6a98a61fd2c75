/** A task of the copilot contract. */
import { type PlanProgress, sendWritten } from '@parlance/copilot';
import { isObject, type JsonObject, type TurnId } from '@parlance/protocol';
import type { TaskState } from './task-state.ts';

export type PlanStep = {
  readonly id: string;
  readonly index: number;
  readonly description: string;
  readonly status: 'pending' | 'active' | 'completed' | 'failed';
  readonly reasoning?: string;
  readonly toolType: 'DOM' | 'SERVER' | 'MIXED';
  readonly expectedOutcome?: JsonObject;
};

export type Plan = {
  readonly steps: PlanStep[];
  readonly currentStepIndex: number;
  readonly createdAt: string;
};

export type TaskStatus =
  | 'planning'
  | 'executing'
  | 'verifying'
  | 'correcting'
  | 'completed'
  | 'failed'
  | 'needs_user_input'
  | 'needs_full_dom';

export type Task = {
  readonly taskId: TurnId;
  readonly status: TaskStatus;
  readonly thought: string;
  /** always valid in the strict grammar */
  readonly action: string;
  readonly plan: Plan | null;
  readonly question: {
    readonly userQuestion: string;
    readonly missingInformation: string[];
    readonly reasoning: string;
  } | null;
  /** why the text of the page is needed, if it is missing and the client can send it */
  readonly needsFullDom: string | null;
  readonly verification: JsonObject | null;
  readonly correction: JsonObject | null;
  readonly expectedOutcome: JsonObject | null;
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number };
  readonly actionCount: number;
  readonly webSearches: readonly string[];
};

/** Converts the state of a task to the contract. */
export function taskView(task: TaskState): Task {
  const { taskId, waiting, ended, reason, verification, correction, usage, actionCount, webSearches } = task;
  const asks = waiting?.tool === 'browser_ask' ? waiting.input : null;
  const acts = waiting?.tool === 'browser_act' ? waiting.input : null;
  const reads = waiting?.tool === 'browser_read' ? waiting.input : null;
  const sent = acts && sendWritten(text(acts.action));
  const status = statusOf(task);
  const thought = ended
    ? reason || task.text
    : [text(acts?.thought ?? asks?.thought ?? asks?.question ?? reads?.reason) || task.text, sent?.note]
        .filter(Boolean)
        .join(' ');
  return {
    taskId,
    status,
    thought: thought || (ended === 'failed' ? 'The task could not be done.' : 'Done.'),
    action: ended ? (ended === 'failed' ? 'fail()' : 'finish()') : (sent?.text ?? 'wait(1)'),
    plan: task.progress?.steps.length ? planOf(task.progress, ended) : null,
    question: asks && {
      userQuestion: text(asks.question),
      missingInformation: Array.isArray(asks.missing) ? asks.missing.map(text) : [],
      reasoning: text(asks.thought ?? asks.question),
    },
    needsFullDom: reads && text(reads.reason),
    verification,
    correction,
    expectedOutcome: isObject(acts?.expectedOutcome) ? (acts.expectedOutcome as JsonObject) : null,
    usage,
    actionCount,
    webSearches,
  };
}

function statusOf({ ended, waiting, verification }: TaskState): TaskStatus {
  if (ended) return ended;
  switch (waiting?.tool) {
    case 'browser_ask':
      return 'needs_user_input';
    case 'browser_read':
      return 'needs_full_dom';
    case 'browser_act':
      return verification?.success === false ? 'correcting' : 'executing';
    default:
      return 'planning';
  }
}

/** Converts a plan to the contract; `ended` is the outcome of the task, if it has one. */
export function planOf({ steps, current, at }: PlanProgress, ended: TaskState['ended']): Plan {
  const status = (index: number): PlanStep['status'] => {
    if (ended === 'completed' || index < current) return 'completed';
    if (index > current) return 'pending';
    return ended === 'failed' ? 'failed' : 'active';
  };
  return {
    steps: steps.map((step, index) => ({
      id: `step_${index}`,
      index,
      description: text(step.description),
      status: status(index),
      ...(step.reasoning === undefined ? {} : { reasoning: text(step.reasoning) }),
      toolType: step.toolType === 'SERVER' || step.toolType === 'MIXED' ? step.toolType : 'DOM',
      ...(isObject(step.expectedOutcome) ? { expectedOutcome: step.expectedOutcome as JsonObject } : {}),
    })),
    currentStepIndex: ended === 'completed' ? steps.length - 1 : current,
    createdAt: new Date(at).toISOString(),
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
