/** Folds the events of a turn into the state of a task. */
import { type PlanProgress, progressAfter, type ToolUse } from '@parlance/copilot';
import {
  type DurableEvent,
  isObject,
  isTurnEvent,
  type JsonObject,
  type TurnId,
  textOf,
} from '@parlance/protocol';

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
    case 'input.accepted':
    case 'input.cancelled':
    case 'turn.started':
    case 'turn.resumed':
    case 'agent.changed':
    case 'reasoning.ended':
    case 'step.restarted':
    case 'approval.requested':
    case 'approval.explained':
    case 'approval.answered':
    case 'tool.started':
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
