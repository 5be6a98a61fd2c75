/** What a call returns besides the task itself: a pending approval, or the end of the task. */
import type { TurnId } from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/api/index.ts';
import { waitingText } from '../shared/approval-text.ts';
import { type Task, taskView } from './task.ts';
import { startTask } from './task-state.ts';

/** A pending approval is shown as a question to the user. */
export function withApproval(task: Task, { approval, turn }: SessionSnapshot): Task {
  if (!approval || turn !== task.taskId) return task;
  const userQuestion = waitingText(approval.ask);
  const question = { userQuestion, missingInformation: ['approval'], reasoning: approval.ask.description };
  return { ...task, status: 'needs_user_input', thought: userQuestion, question };
}

export const finishedIn = ({ finished }: SessionSnapshot, taskId: TurnId) =>
  finished.find(({ turn }) => turn === taskId) ?? null;

/** A task that has ended or is unknown. Clients stop at it, whereas they would retry a 404. */
export function overTask(taskId: TurnId, over: { readonly ok: boolean } | null): Task {
  const thought = over
    ? `This task is finished already${over.ok ? '' : ': it failed'}.`
    : 'There is no such task.';
  return {
    ...taskView(startTask(taskId)),
    status: over?.ok ? 'completed' : 'failed',
    thought,
    action: 'finish()',
  };
}
