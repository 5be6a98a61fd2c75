/**
 * Out: the events of a session as messages, tasks and frames of its channel. Messages are counted exactly as by `messageCount` of a
 * session, in every dialect, so the number of a message is known without reading earlier events.
 */
import { type PlanProgress, progressAfter, sendWritten, type ToolUse } from '@parlance/copilot';
import {
  type CallId,
  type DurableEvent,
  isDurable,
  isObject,
  isTurnEvent,
  type JsonObject,
  limitNotice,
  type SessionEvent,
  type TurnId,
  textOf,
  writtenQuestion,
} from '@parlance/protocol';
import type { Engine, SessionRef, SessionSnapshot } from '../../core/index.ts';
import { type Frame, NONE, nthId, type Projection, type StepResult } from '../kit/projection.ts';
import { latestEvents, replay } from '../kit/replay.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { instructionsText, rewoundText, waitingText } from '../kit/texts.ts';
import { type Inputs, NO_INPUTS, trackInputs } from '../kit/tracking.ts';
import type { ActiveTask, CopilotMessage, Plan } from './contract.ts';
import { planOf, startTask, stepTask, type TaskState, taskView } from './task.ts';

export const projection: Projection<State, Body> = { start, step, attach };

type Body =
  | { readonly type: 'new_message'; readonly sessionId: string; readonly message: CopilotMessage }
  | {
      readonly type: 'plan_update';
      readonly sessionId: string;
      readonly taskId: string;
      readonly steps: unknown;
    }
  | {
      readonly type: 'task_status';
      readonly sessionId: string;
      readonly taskId: string;
      readonly status: string;
    };

export type State = {
  readonly messages: MessageState;
  readonly tasks: TaskList;
};

function start(now: SessionSnapshot): State {
  return startAt(now.messageCountAtIdle);
}

/** `count` is the number of earlier messages. */
export const startAt = (count: number): State => ({
  messages: startMessages(count),
  tasks: NO_TASKS,
});

export function step(before: State, event: SessionEvent): StepResult<State, Body> {
  if (!isDurable(event)) return [before, NONE];
  const [messages, added] = stepMessages(before.messages, event);
  const tasks = trackTasks(before.tasks, event);
  const bodies = added.map((message): Body => ({ type: 'new_message', sessionId: event.session, message }));
  return [{ messages, tasks }, [...bodies, ...progress(event, tasks)].map((body): Frame<Body> => ({ body }))];
}

/** For other devices of the same user: the plan and the state of the task. */
function progress(event: DurableEvent, { tasks }: TaskList): Body[] {
  const sessionId = event.session;
  if (!isTurnEvent(event)) return [];
  switch (event.type) {
    case 'call.requested':
      if (event.tool !== 'browser_plan') return [];
      return [{ type: 'plan_update', sessionId, taskId: event.turn, steps: event.input.steps }];
    case 'turn.started':
      return [{ type: 'task_status', sessionId, taskId: event.turn, status: 'running' }];
    case 'turn.ended': {
      const status = tasks.get(event.turn)?.ended === 'failed' ? 'failed' : 'completed';
      return [{ type: 'task_status', sessionId, taskId: event.turn, status }];
    }
    case 'turn.failed':
      return [{ type: 'task_status', sessionId, taskId: event.turn, status: 'failed' }];
    case 'turn.cancelled':
      return [{ type: 'task_status', sessionId, taskId: event.turn, status: 'interrupted' }];
    case 'files.rewound':
    case 'input.cancelled':
    case 'input.joined':
    case 'input.accepted':
    case 'turn.resumed':
    case 'agent.changed':
    case 'reasoning.ended':
    case 'text.ended':
    case 'step.restarted':
    case 'step.ended':
    case 'limit.approached':
    case 'instructions.changed':
    case 'approval.requested':
    case 'approval.explained':
    case 'approval.answered':
    case 'question.asked':
    case 'question.repeated':
    case 'question.answered':
    case 'tool.started':
    case 'call.deferred':
    case 'call.delegated':
    case 'tool.ended':
      return [];
  }
}

/** Clients read missed messages over HTTP. */
function attach(): Body[] {
  return [];
}

// The latest tasks of a session, as the projection keeps them.

/** More than one: a call that waits for a superseded task still reads it. */
const MAX_TASKS = 8;

type TaskList = {
  /** in order of start */
  readonly tasks: ReadonlyMap<TurnId, TaskState>;
  readonly inputs: Inputs;
  /** time of the last event */
  readonly at: number;
};

const NO_TASKS: TaskList = { tasks: new Map(), inputs: NO_INPUTS, at: 0 };

function trackTasks(before: TaskList, event: DurableEvent): TaskList {
  const inputs = trackInputs(before.inputs, event);
  const { at } = event;
  if (event.type === 'turn.started') {
    const query = textOf(before.inputs[event.input]?.parts.slice(0, 1) ?? []);
    const kept = [...before.tasks].slice(1 - MAX_TASKS);
    return { tasks: new Map([...kept, [event.turn, startTask(event.turn, query, at)]]), inputs, at };
  }
  const task = 'turn' in event && event.turn ? before.tasks.get(event.turn) : undefined;
  const next = task && stepTask(task, event);
  const tasks = next && next !== task ? new Map(before.tasks).set(next.taskId, next) : before.tasks;
  return { tasks, inputs, at };
}

// Reads

/** Small, because events of this dialect contain whole pages. */
const PAGE = 100;

type HistoryQuery = {
  readonly limit: number;
  /** earliest time, in milliseconds */
  readonly since?: number;
};

/**
 * The latest `limit` messages, oldest first. Reads backwards, so the cost does not depend on the length of the
 * history.
 */
export async function latestMessages(
  engine: Engine,
  { ref, seq, messageCount }: SessionSnapshot,
  { limit, since = 0 }: HistoryQuery,
): Promise<CopilotMessage[]> {
  let messages: CopilotMessage[] = [];
  for await (const { events, whole } of latestEvents(engine, { ref, head: seq }, PAGE)) {
    // A call can be shown only with its request, which is in the same turn.
    const start = whole
      ? 0
      : events.findIndex(({ type }) => type === 'turn.started' || type === 'history.imported');
    if (start < 0) continue;
    messages = messagesOf(events.slice(start));
    if (messages.length >= limit || (events[start]?.at ?? 0) < since) break;
  }
  const first = messageCount - messages.length;
  return messages
    .map((message) => ({ ...message, sequenceNumber: first + message.sequenceNumber }))
    .filter((message) => Date.parse(message.timestamp) >= since)
    .slice(-limit);
}

/**
 * All messages of these events; actions include their later outcome. `count` is the number of earlier messages.
 */
export function messagesOf(events: readonly DurableEvent[], count = 0): CopilotMessage[] {
  const messages: CopilotMessage[] = [];
  const actions = new Map<CallId, number>();
  for (const { event, bodies } of replay(step, startAt(count), events)) {
    const added = bodies.flatMap((body) => (body.type === 'new_message' ? [body.message] : []));
    messages.push(...added);
    if (event.type === 'call.deferred' && added.at(-1)?.status) actions.set(event.call, messages.length - 1);
    if (event.type !== 'tool.ended') continue;
    const index = actions.get(event.call) ?? -1;
    const action = messages[index];
    if (action) messages[index] = withOutcome(action, event);
  }
  return messages;
}

/** Null if no task is running. */
export async function activeTask(hub: SubscriptionHub<State>, ref: SessionRef): Promise<ActiveTask | null> {
  const { state, snapshot } = await hub.read(ref);
  const { turn, approval } = snapshot;
  const active = turn === null ? undefined : state.tasks.tasks.get(turn);
  if (!active) return null;
  const task = taskView(active);
  return {
    taskId: active.taskId,
    sessionId: ref.id,
    query: active.query,
    status: approval ? 'needs_user_input' : task.status,
    currentStepIndex: task.plan?.currentStepIndex ?? 0,
    createdAt: new Date(active.createdAt).toISOString(),
    updatedAt: new Date(state.tasks.at).toISOString(),
  };
}

// Messages

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
    case 'files.rewound':
      return { ...base, role: 'assistant', content: rewoundText(event), metadata: {} };
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
    case 'question.asked':
    case 'question.repeated':
      return {
        ...base,
        role: 'assistant',
        content: writtenQuestion(event),
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
    case 'limit.approached':
      return {
        ...base,
        role: 'system',
        content: limitNotice(event.limit),
        metadata: { taskId: event.turn },
      };
    case 'instructions.changed': {
      const content = instructionsText(event);
      if (content === null || !event.turn) return null;
      return { ...base, role: 'system', content, metadata: { taskId: event.turn } };
    }
    case 'input.cancelled':
    case 'input.joined':
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
    case 'question.answered':
    case 'tool.started':
    case 'call.delegated':
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

// The message of a call that the client executes.

type ActionMessage = Pick<CopilotMessage, 'content' | 'actionString' | 'actionPayload' | 'status'>;

export function actionMessage(call: ToolUse | undefined): ActionMessage {
  switch (call?.tool) {
    case 'browser_act': {
      const written = textAt(call.input, 'action');
      const sent = sendWritten(written);
      const thought = textAt(call.input, 'thought');
      return {
        content: sent?.note ? `${thought} ${sent.note}` : thought,
        actionString: sent?.text ?? written,
        ...(sent && { actionPayload: { ...sent.action } as JsonObject }),
        status: 'pending',
      };
    }
    case 'browser_ask':
      return { content: textAt(call.input, 'question') };
    case 'browser_read':
      return { content: textAt(call.input, 'reason') };
    case undefined:
      return { content: '' };
    default:
      return { content: `Waiting for ${call?.tool}.` };
  }
}

const textAt = (input: JsonObject, name: string): string => {
  const value = input[name];
  return typeof value === 'string' ? value : '';
};

/** The action with its outcome, which is reported later. */
export function withOutcome(action: CopilotMessage, event: DurableEvent<'tool.ended'>): CopilotMessage {
  if (event.outcome === 'ok') return { ...action, status: 'success' };
  const message = textOf(event.parts.slice(0, 1)) || 'The action did not succeed.';
  const code =
    isObject(event.data) && typeof event.data.code === 'string' ? event.data.code : 'ACTION_FAILED';
  return { ...action, status: 'failure', error: { message, code, action: action.actionString } };
}
