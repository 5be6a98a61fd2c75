/** The task after a response of the server. Pure. */
import type { InteractResponse } from '../../shared/contract.ts';
import type { TaskRecord, TaskState } from '../../shared/task-record.ts';

type Change = Pick<TaskRecord, 'taskId' | 'actionCount' | 'plan' | 'state' | 'problem'>;

export function afterResponse(task: TaskRecord, response: InteractResponse): Change {
  return {
    taskId: response.taskId ?? task.taskId,
    actionCount: response.metrics?.actionCount ?? task.actionCount,
    plan: response.plan ?? task.plan,
    state: stateAfter(response),
    problem: null,
  };
}

function stateAfter({
  status,
  action,
  thought = '',
  userQuestion,
  missingInformation,
}: InteractResponse): TaskState {
  if (status === 'needs_user_input')
    return { phase: 'question', question: userQuestion ?? thought, missing: missingInformation ?? [] };
  // The page is always sent whole: it is sent again.
  if (status === 'needs_full_dom') return { phase: 'reporting', action: '', report: {} };
  if (action === undefined || action === 'fail()')
    return { phase: 'ended', outcome: 'failed', message: thought };
  if (action === 'finish()')
    return { phase: 'ended', outcome: status === 'failed' ? 'failed' : 'completed', message: thought };
  return { phase: 'acting', action, thought, begun: false };
}
