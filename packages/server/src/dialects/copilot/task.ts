/** A task as clients of the copilot contract see it: read from the events of its turn, and from nothing else. */

import { type DurableEvent, isObject, type JsonObject, type TurnId, textOf } from '@parlance/protocol';
import { sendWritten } from '../../copilot/action/print.ts';
import { type PlanProgress, progressAfter } from '../../copilot/plan-progress.ts';

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
  /** always one that the strict grammar takes */
  readonly action: string;
  readonly plan: Plan | null;
  readonly question: {
    readonly userQuestion: string;
    readonly missingInformation: string[];
    readonly reasoning: string;
  } | null;
  /** what the text of the page is needed for, where it did not come and the client can send it */
  readonly needsFullDom: string | null;
  readonly verification: JsonObject | null;
  readonly correction: JsonObject | null;
  readonly expectedOutcome: JsonObject | null;
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number };
  readonly actionCount: number;
  readonly webSearches: readonly string[];
};

type Reading = {
  taskId: TurnId;
  calls: Map<string, { tool: string; input: JsonObject }>;
  progress: PlanProgress | null;
  text: string;
  waiting: { tool: string; input: JsonObject } | null;
  ended: 'completed' | 'failed' | null;
  why: string;
  verification: JsonObject | null;
  correction: JsonObject | null;
  usage: { promptTokens: number; completionTokens: number };
  actionCount: number;
  webSearches: string[];
};

/** `events` are those of the turn, from its beginning. */
export function taskOf(events: readonly DurableEvent[], taskId: TurnId): Task {
  const reading: Reading = {
    taskId,
    calls: new Map(),
    progress: null,
    text: '',
    waiting: null,
    ended: null,
    why: '',
    verification: null,
    correction: null,
    usage: { promptTokens: 0, completionTokens: 0 },
    actionCount: 0,
    webSearches: [],
  };
  for (const event of events) if ('turn' in event && event.turn === taskId) read(reading, event);
  return told(reading);
}

function read(task: Reading, event: DurableEvent): void {
  if (event.type === 'call.deferred' || event.type === 'tool.ended')
    task.progress = progressAfter(task.progress, event, task.calls.get(event.call));
  switch (event.type) {
    case 'text.ended':
      task.text = event.text;
      break;
    case 'step.ended':
      task.usage.promptTokens += event.usage.inputTokens;
      task.usage.completionTokens += event.usage.outputTokens;
      break;
    case 'call.requested':
      task.calls.set(event.call, { tool: event.tool, input: event.input });
      break;
    case 'call.deferred':
      task.waiting = task.calls.get(event.call) ?? null;
      if (task.waiting?.tool === 'browser_act') task.actionCount++;
      break;
    case 'tool.ended':
      toolEnded(task, event);
      break;
    case 'turn.ended':
      task.ended ??= 'completed';
      break;
    case 'turn.failed':
      task.ended = 'failed';
      task.why = event.fault.message;
      break;
    case 'turn.cancelled':
      task.ended = 'failed';
      task.why =
        event.reason === 'superseded'
          ? 'Another request took the place of this task.'
          : 'The task was stopped.';
      break;
    default:
      break;
  }
}

function toolEnded(task: Reading, event: DurableEvent<'tool.ended'>): void {
  const call = task.calls.get(event.call);
  task.waiting = null;
  const { data } = event;
  if (call?.tool === 'browser_act' && data) {
    task.verification = isObject(data.verification) ? (data.verification as JsonObject) : null;
    task.correction = isObject(data.correction) ? (data.correction as JsonObject) : null;
  }
  if (event.outcome === 'ok') {
    if (call?.tool === 'browser_verify') task.verification = data ?? null;
    if (call?.tool === 'web_search') task.webSearches.push(textOf(event.parts));
  }
  if (event.final) {
    task.ended = event.outcome === 'ok' ? 'completed' : 'failed';
    task.why = textOf(event.parts);
  }
}

function told(task: Reading): Task {
  const { taskId, waiting, ended, why, verification, correction, usage, actionCount, webSearches } = task;
  const asks = waiting?.tool === 'browser_ask' ? waiting.input : null;
  const acts = waiting?.tool === 'browser_act' ? waiting.input : null;
  const reads = waiting?.tool === 'browser_read' ? waiting.input : null;
  const sent = acts && sendWritten(text(acts.action));
  const status = statusOf(task);
  const thought = ended
    ? why || task.text
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

function statusOf({ ended, waiting, verification }: Reading): TaskStatus {
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

/** The plan as clients are told it; `ended` is how the task came to its end, if it did. */
export function planOf({ steps, current, at }: PlanProgress, ended: Reading['ended']): Plan {
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
