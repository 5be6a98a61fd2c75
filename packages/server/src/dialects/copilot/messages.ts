/**
 * A conversation as the messages that copilot clients show. What counts as a message is what `said` of a session
 * counts, whatever dialect it was said in: so the number of a message is known without reading what came before it.
 */
import {
  type CallId,
  type DurableEvent,
  isObject,
  type JsonObject,
  type TurnId,
  textOf,
} from '@parlance/protocol';
import { sendWritten } from '../../copilot/action/print.ts';
import { type PlanProgress, progressAfter } from '../../copilot/plan-progress.ts';
import { waitingWords } from '../shared/approval-words.ts';
import { nthId } from '../shared/ids.ts';
import { type Plan, planOf } from './task.ts';

export type MessageStatus = 'pending' | 'success' | 'failure';

export type CopilotMessage = {
  /** the id of the event that it is made from */
  readonly messageId: string;
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string;
  /** from 0, without gaps */
  readonly sequenceNumber: number;
  /** ISO 8601 */
  readonly timestamp: string;
  readonly status?: MessageStatus;
  readonly actionString?: string;
  readonly actionPayload?: JsonObject;
  readonly error?: { readonly message: string; readonly code: string; readonly action?: string };
  readonly domSummary?: string;
  readonly metadata?: {
    readonly dialect?: string;
    readonly taskId?: TurnId;
    readonly interrupted?: true;
    /** of a plan: newer clients show plans by these messages alone */
    readonly messageType?: 'plan_preview' | 'plan_update';
    readonly plan?: Plan;
  };
};

type Requested = { readonly tool: string; readonly input: JsonObject };

export type MessageState = {
  /** the number of the next message */
  readonly next: number;
  /** calls that have no outcome yet */
  readonly calls: ReadonlyMap<CallId, Requested>;
  /** the plan of the last turn that has one */
  readonly plan: PlanProgress | null;
};

/** `said`: how many messages there are before the events that are to come. */
export const startMessages = (said: number): MessageState => ({
  next: said,
  calls: new Map(),
  plan: null,
});

/** The messages that this event is. A call is understood only where its request was stepped over, too. */
export function stepMessages(
  state: MessageState,
  event: DurableEvent,
): readonly [MessageState, CopilotMessage[]] {
  const about = event.type === 'call.deferred' || event.type === 'tool.ended' ? event.call : null;
  const plan = about ? progressAfter(state.plan, event, state.calls.get(about)) : state.plan;
  const notice = noticeOf(event, state, plan);
  const own = messageOf(event, notice ? { ...state, next: state.next + 1 } : state);
  const messages = [
    ...(notice ? [own ? { ...notice, messageId: nthId(event.id, 1) } : notice] : []),
    ...(own ? [own] : []),
  ];
  const calls = callsAfter(state.calls, event);
  if (messages.length === 0 && calls === state.calls && plan === state.plan) return [state, messages];
  return [{ next: state.next + messages.length, calls, plan }, messages];
}

/** All messages of these events; an action has the outcome that came later. `said` is as in `startMessages`. */
export function messagesOf(events: readonly DurableEvent[], said = 0): CopilotMessage[] {
  const messages: CopilotMessage[] = [];
  const actions = new Map<CallId, number>();
  let state = startMessages(said);
  for (const event of events) {
    const [next, told] = stepMessages(state, event);
    state = next;
    messages.push(...told);
    if (event.type === 'call.deferred' && told.at(-1)?.status) actions.set(event.call, messages.length - 1);
    if (event.type !== 'tool.ended') continue;
    const index = actions.get(event.call) ?? -1;
    const action = messages[index];
    if (action) messages[index] = withOutcome(action, event);
  }
  return messages;
}

/** The message that this event is where `next` is its number; null where it is none. */
function messageOf(event: DurableEvent, { next, calls }: MessageState): CopilotMessage | null {
  const base = {
    messageId: event.id,
    sequenceNumber: next,
    timestamp: new Date(event.at).toISOString(),
  };
  switch (event.type) {
    case 'input.accepted':
      // What follows the first part is material, such as the page.
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
        ...spoken(calls.get(event.call)),
        metadata: { taskId: event.turn },
      };
    case 'approval.requested':
      return {
        ...base,
        role: 'assistant',
        content: waitingWords(event.ask),
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
    case 'session.created':
    case 'session.cleared':
    case 'session.renamed':
    case 'session.archived':
    case 'session.labelled':
    case 'session.rewound':
    case 'session.configured':
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
    case 'grant.revoked':
    case 'context.compacted':
      return null;
  }
}

/** What the user is told besides: the plan of the task, when it is set, when another step begins and when the task ends. */
function noticeOf(
  event: DurableEvent,
  state: MessageState,
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

type Spoken = Pick<CopilotMessage, 'content' | 'actionString' | 'actionPayload' | 'status'>;

function spoken(call: Requested | undefined): Spoken {
  switch (call?.tool) {
    case 'browser_act': {
      const written = wordsAt(call.input, 'action');
      const sent = sendWritten(written);
      const thought = wordsAt(call.input, 'thought');
      return {
        content: sent?.note ? `${thought} ${sent.note}` : thought,
        actionString: sent?.text ?? written,
        ...(sent && { actionPayload: { ...sent.action } as JsonObject }),
        status: 'pending',
      };
    }
    case 'browser_ask':
      return { content: wordsAt(call.input, 'question') };
    case 'browser_read':
      return { content: wordsAt(call.input, 'reason') };
    case undefined:
      return { content: '' };
    default:
      return { content: `Waiting for ${call?.tool}.` };
  }
}

const wordsAt = (input: JsonObject, name: string): string => {
  const value = input[name];
  return typeof value === 'string' ? value : '';
};

function withOutcome(action: CopilotMessage, event: DurableEvent<'tool.ended'>): CopilotMessage {
  if (event.outcome === 'ok') return { ...action, status: 'success' };
  const message = textOf(event.parts.slice(0, 1)) || 'The action did not succeed.';
  const code =
    isObject(event.data) && typeof event.data.code === 'string' ? event.data.code : 'ACTION_FAILED';
  return { ...action, status: 'failure', error: { message, code, action: action.actionString } };
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
