/** The latest tasks of a session, as the projection keeps them. */
import { type DurableEvent, type TurnId, textOf } from '@parlance/protocol';
import { type Inputs, NO_INPUTS, trackInputs } from '../shared/inputs.ts';
import { startTask, stepTask, type TaskState } from './task-state.ts';

/** More than one: a call that waits for a superseded task still reads it. */
const MAX_TASKS = 8;

export type TaskList = {
  /** in order of start */
  readonly tasks: ReadonlyMap<TurnId, TaskState>;
  readonly inputs: Inputs;
  /** time of the last event */
  readonly at: number;
};

export const NO_TASKS: TaskList = { tasks: new Map(), inputs: NO_INPUTS, at: 0 };

export function trackTasks(before: TaskList, event: DurableEvent): TaskList {
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
