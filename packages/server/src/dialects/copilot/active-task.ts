/** The running task of a session, for clients that have lost its id. */
import type { TurnId } from '@parlance/protocol';
import type { SessionRef } from '../../core/index.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import type { State } from './projection.ts';
import { type TaskStatus, taskView } from './task.ts';

export type ActiveTask = {
  readonly taskId: TurnId;
  readonly sessionId: string;
  /** the input of the task */
  readonly query: string;
  readonly status: TaskStatus;
  readonly currentStepIndex: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

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
