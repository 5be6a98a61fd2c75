/**
 * A conversation as messages of the copilot contract. Messages are counted exactly as by `messageCount` of a
 * session, in every dialect, so the number of a message is known without reading earlier events.
 */
import { type PlanProgress, progressAfter, type ToolUse } from '@parlance/copilot';
import { type CallId, type DurableEvent, isTurnEvent, textOf } from '@parlance/protocol';
import { waitingText } from '../kit/approval-text.ts';
import { nthId } from '../kit/ids.ts';
import { actionMessage } from './action-message.ts';
import type { CopilotMessage } from './message.ts';

import { type Plan, planOf } from './task.ts';

export type { CopilotMessage } from './message.ts';

export type MessageState = {
  /** the number of the next message */
  readonly next: number;
  /** calls without an outcome */
  readonly calls: ReadonlyMap<CallId, ToolUse>;
  /** the plan of the last turn that has one */
  readonly plan: PlanProgress | null;
};

/** `count` is the number of earlier messages. */
export const startMessages = (count: number): MessageState => ({
  next: count,
  calls: new Map(),
  plan: null,
});

/** The messages of this event. The outcome of a call requires that its request was stepped over as well. */
export function stepMessages(
  state: MessageState,
  event: DurableEvent,
): readonly [MessageState, CopilotMessage[]] {
  const about = event.type === 'call.deferred' || event.type === 'tool.ended' ? event.call : null;
  const plan = about ? progressAfter(state.plan, event, state.calls.get(about)) : state.plan;
  const notice = noticeOf(event, state, plan);
  const own = messageOf(event, notice ? { ...state, next: state.next + 1 } : state);
  const messages =
    event.type === 'history.imported'
      ? importedMessages(event, state.next)
      : [
          ...(notice ? [own ? { ...notice, messageId: nthId(event.id, 1) } : notice] : []),
          ...(own ? [own] : []),
        ];
  const calls = callsAfter(state.calls, event);
  if (messages.length === 0 && calls === state.calls && plan === state.plan) return [state, messages];
  return [{ next: state.next + messages.length, calls, plan }, messages];
}

/** The messages of an imported conversation. */
const importedMessages = (event: DurableEvent<'history.imported'>, next: number): CopilotMessage[] =>
  event.items
    .flatMap((item) => (item.type === 'user' || item.type === 'text' ? [item] : []))
    .map((item, index) => ({
      messageId: nthId(event.id, index),
      sequenceNumber: next + index,
      timestamp: new Date(event.at).toISOString(),
      role: item.type === 'user' ? 'user' : 'assistant',
      content: item.type === 'user' ? textOf(item.parts.slice(0, 1)) : item.text,
      metadata: { dialect: event.dialect, imported: true as const },
    }));

/** The message of this event with the number `next`; null if the event is not a message. */
function messageOf(event: DurableEvent, { next, calls }: MessageState): CopilotMessage | null {
  const base = {
    messageId: event.id,
    sequenceNumber: next,
    timestamp: new Date(event.at).toISOString(),
  };
  if (!isTurnEvent(event)) return null;
  switch (event.type) {
    case 'input.accepted':
      // An input without parts lets the model continue; there is no message to show.
      if (event.parts.length === 0 && !event.call) return null;
      // Later parts are context, such as the page.
      return {
        ...base,
        role: 'user',
        content: textOf(event.parts.slice(0, 1)),
        metadata: { dialect: event.dialect },
      };
    case 'text.ended': {
      if (event.text === '') return null;
      const metadata = { taskId: event.turn, ...(event.interrupted && { interrupted: true as const }) };
      return { ...base, role: 'assistant', content: event.text, metadata };
    }
    case 'call.deferred':
      return {
        ...base,
        role: 'assistant',
        ...actionMessage(calls.get(event.call)),
        metadata: { taskId: event.turn },
      };
    case 'approval.requested':
      return {
        ...base,
        role: 'assistant',
        content: waitingText(event.ask),
        metadata: { taskId: event.turn },
      };
    case 'approval.answered':
      if (event.said === undefined) return null;
      return {
        ...base,
        role: 'user',
        content: event.said,
        metadata: { dialect: event.dialect, taskId: event.turn },
      };
    case 'tool.ended': {
      if (event.said !== undefined) {
        return { ...base, role: 'user', content: event.said, metadata: { taskId: event.turn } };
      }
      if (!event.final) return null;
      const status = event.outcome === 'ok' ? 'success' : 'failure';
      return {
        ...base,
        role: 'assistant',
        content: textOf(event.parts),
        status,
        ...(calls.get(event.call)?.tool === 'browser_finish' && {
          actionString: status === 'success' ? 'finish()' : 'fail()',
        }),
        metadata: { taskId: event.turn },
      };
    }
    case 'input.cancelled':
    case 'turn.started':
    case 'turn.resumed':
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
    case 'agent.changed':
    case 'reasoning.ended':
    case 'step.restarted':
    case 'step.ended':
    case 'call.requested':
    case 'approval.explained':
    case 'tool.started':
      return null;
  }
}

function callsAfter(calls: MessageState['calls'], event: DurableEvent): MessageState['calls'] {
  if (event.type === 'call.requested') {
    return new Map(calls).set(event.call, { tool: event.tool, input: event.input });
  }
  if (event.type !== 'tool.ended' || !calls.has(event.call)) return calls;
  const left = new Map(calls);
  left.delete(event.call);
  return left;
}

// The messages about the plan of a task.

/** Shows the plan when it is set, when another step starts, and when the task ends. */
function noticeOf(
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
