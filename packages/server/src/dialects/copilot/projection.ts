/** Out: converts the events of a session to the frames of its channel. */
import {
  type DurableEvent,
  isDurable,
  isTurnEvent,
  type SessionEvent,
  type TurnId,
  textOf,
} from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/index.ts';
import { type Inputs, NO_INPUTS, trackInputs } from '../kit/inputs.ts';
import { type Frame, NONE, type Projection, type StepResult } from '../kit/projection.ts';
import { type CopilotMessage, type MessageState, startMessages, stepMessages } from './messages.ts';
import { startTask, stepTask, type TaskState } from './task-state.ts';

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
  /** the agent reported that the task cannot be done */
  readonly failed: boolean;
};

function start(now: SessionSnapshot): State {
  return startAt(now.messageCountAtIdle);
}

/** `count` is the number of earlier messages. */
export const startAt = (count: number): State => ({
  messages: startMessages(count),
  tasks: NO_TASKS,
  failed: false,
});

export function step(before: State, event: SessionEvent): StepResult<State, Body> {
  if (!isDurable(event)) return [before, NONE];
  const [messages, added] = stepMessages(before.messages, event);
  const failed = failedAfter(before.failed, event);
  const state = { messages, tasks: trackTasks(before.tasks, event), failed };
  const bodies = added.map((message): Body => ({ type: 'new_message', sessionId: event.session, message }));
  return [state, [...bodies, ...progress(event, failed)].map((body): Frame<Body> => ({ body }))];
}

function failedAfter(failed: boolean, event: DurableEvent): boolean {
  if (event.type === 'turn.started') return false;
  return event.type === 'tool.ended' && event.final ? event.outcome !== 'ok' : failed;
}

/** For other devices of the same user: the plan and the state of the task. */
function progress(event: DurableEvent, failed: boolean): Body[] {
  const sessionId = event.session;
  if (!isTurnEvent(event)) return [];
  switch (event.type) {
    case 'call.requested':
      if (event.tool !== 'browser_plan') return [];
      return [{ type: 'plan_update', sessionId, taskId: event.turn, steps: event.input.steps }];
    case 'turn.started':
      return [{ type: 'task_status', sessionId, taskId: event.turn, status: 'running' }];
    case 'turn.ended': {
      const status = failed || event.paused ? 'failed' : 'completed';
      return [{ type: 'task_status', sessionId, taskId: event.turn, status }];
    }
    case 'turn.failed':
      return [{ type: 'task_status', sessionId, taskId: event.turn, status: 'failed' }];
    case 'turn.cancelled':
      return [{ type: 'task_status', sessionId, taskId: event.turn, status: 'interrupted' }];
    case 'input.cancelled':
    case 'input.accepted':
    case 'turn.resumed':
    case 'agent.changed':
    case 'reasoning.ended':
    case 'text.ended':
    case 'step.restarted':
    case 'step.ended':
    case 'approval.requested':
    case 'approval.explained':
    case 'approval.answered':
    case 'tool.started':
    case 'call.deferred':
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
