/** A task of the copilot contract: folded from the events of a turn, and as responses show it. */
import { type PlanProgress, progressAfter, sendWritten, type ToolUse } from '@parlance/copilot';
import {
  type DurableEvent,
  isObject,
  isTurnEvent,
  type JsonObject,
  type TurnId,
  textOf,
  writtenQuestion,
} from '@parlance/protocol';
import type { Plan, TaskStatus } from './contract.ts';

export type TaskState = {
  readonly taskId: TurnId;
  /** the first part of the input */
  readonly query: string;
  readonly createdAt: number;
  readonly calls: ReadonlyMap<string, ToolUse>;
  readonly progress: PlanProgress | null;
  readonly text: string;
  /** the deferred call that the client executes */
  readonly waiting: ToolUse | null;
  /** the question that waits for the user, as a message */
  readonly asked: string | null;
  readonly ended: 'completed' | 'failed' | null;
  /** why the task ended */
  readonly reason: string;
  readonly verification: JsonObject | null;
  readonly correction: JsonObject | null;
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number };
  readonly actionCount: number;
  readonly webSearches: readonly string[];
};

export const startTask = (taskId: TurnId, query = '', createdAt = 0): TaskState => ({
  taskId,
  query,
  createdAt,
  calls: new Map(),
  progress: null,
  text: '',
  waiting: null,
  asked: null,
  ended: null,
  reason: '',
  verification: null,
  correction: null,
  usage: { promptTokens: 0, completionTokens: 0 },
  actionCount: 0,
  webSearches: [],
});

/** The task after an event of its turn. */
export function stepTask(before: TaskState, event: DurableEvent): TaskState {
  if (!isTurnEvent(event)) return before;
  switch (event.type) {
    case 'text.ended':
      return { ...before, text: event.text };
    case 'step.ended': {
      const promptTokens = before.usage.promptTokens + event.usage.inputTokens;
      const completionTokens = before.usage.completionTokens + event.usage.outputTokens;
      return { ...before, usage: { promptTokens, completionTokens } };
    }
    case 'call.requested': {
      const calls = new Map(before.calls).set(event.call, { tool: event.tool, input: event.input });
      return { ...before, calls };
    }
    case 'call.deferred': {
      const waiting = before.calls.get(event.call) ?? null;
      const progress = progressAfter(before.progress, event, waiting ?? undefined);
      const actionCount = before.actionCount + (waiting?.tool === 'browser_act' ? 1 : 0);
      return { ...before, waiting, progress, actionCount };
    }
    case 'tool.ended':
      return toolEnded(before, event);
    case 'turn.ended':
      if (event.paused) return { ...before, ended: 'failed', reason: 'The task reached its limit of steps.' };
      return { ...before, ended: before.ended ?? 'completed' };
    case 'turn.failed':
      return { ...before, ended: 'failed', reason: event.fault.message };
    case 'turn.cancelled':
      return { ...before, ended: 'failed', reason: CANCELLED[event.reason] };
    case 'question.asked':
    case 'question.repeated':
      return { ...before, asked: writtenQuestion(event) };
    case 'question.answered':
      return { ...before, asked: null };
    case 'input.accepted':
    case 'input.cancelled':
    case 'input.joined':
    case 'turn.started':
    case 'files.rewound':
    case 'turn.resumed':
    case 'agent.changed':
    case 'reasoning.ended':
    case 'step.restarted':
    case 'limit.approached':
    case 'instructions.changed':
    case 'approval.requested':
    case 'approval.explained':
    case 'approval.answered':
    case 'tool.started':
    case 'call.delegated':
      return before;
  }
}

const CANCELLED = {
  cancelled: 'The task was stopped.',
  superseded: 'Another request took the place of this task.',
  denied: 'The task was stopped.',
};

function toolEnded(before: TaskState, event: DurableEvent<'tool.ended'>): TaskState {
  const call = before.calls.get(event.call);
  const progress = progressAfter(before.progress, event, call);
  const { data } = event;
  const ok = event.outcome === 'ok';
  return {
    ...before,
    progress,
    waiting: null,
    asked: null,
    ...(call?.tool === 'browser_act' && data
      ? { verification: objectIn(data.verification), correction: objectIn(data.correction) }
      : {}),
    ...(ok && call?.tool === 'browser_verify' ? { verification: data ?? null } : {}),
    ...(ok && call?.tool === 'web_search'
      ? { webSearches: [...before.webSearches, textOf(event.parts)] }
      : {}),
    ...(event.final ? { ended: ok ? 'completed' : 'failed', reason: textOf(event.parts) } : {}),
  };
}

const objectIn = (value: unknown): JsonObject | null => (isObject(value) ? (value as JsonObject) : null);

// As responses show it.

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
  const { asked } = task;
  const asks =
    asked === null ? (waiting?.tool === 'browser_ask' ? waiting.input : null) : { question: asked };
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

function statusOf({ ended, waiting, asked, verification }: TaskState): TaskStatus {
  if (ended) return ended;
  if (asked !== null) return 'needs_user_input';
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
  const status = (index: number): Plan['steps'][number]['status'] => {
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
