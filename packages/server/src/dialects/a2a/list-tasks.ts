/** `ListTasks`: the tasks that changed last come first. */
import { Fault, type Principal, SessionId } from '@parlance/protocol';
import type { Context } from './context.ts';
import { RpcFault } from './faults.ts';
import { shownTask, type Task } from './objects.ts';
import type { ListParams } from './schemas.ts';
import { taskOf, turnState } from './tasks.ts';

export type TaskPage = {
  readonly tasks: readonly Task[];
  readonly totalSize: number;
  readonly pageSize: number;
  /** empty on the last page */
  readonly nextPageToken: string;
};

export async function taskPage(
  ctx: Pick<Context, 'engine' | 'tasks'>,
  principal: Principal,
  params: ListParams,
): Promise<TaskPage> {
  const { pageSize, historyLength, includeArtifacts } = params;
  const { turns, next, total } = await found(ctx, principal, params);
  const tasks: Task[] = [];
  for (const turn of turns) {
    const task = await ctx.tasks.read(taskOf(turn));
    if (task) tasks.push(shownTask(includeArtifacts ? task : { ...task, artifacts: [] }, historyLength));
  }
  return { tasks, totalSize: total, pageSize, nextPageToken: next ?? '' };
}

const NONE = { turns: [], next: null, total: 0 } as const;

async function found({ engine }: Pick<Context, 'engine'>, principal: Principal, params: ListParams) {
  const { contextId, status, statusTimestampAfter, pageSize, pageToken } = params;
  const session = SessionId.optional().safeParse(contextId);
  const isAny = status === undefined || status === 'TASK_STATE_UNSPECIFIED';
  const state = isAny ? undefined : turnState(status);
  // No task comes into the other states of the protocol.
  if (!session.success || (!isAny && state === undefined)) return NONE;
  const query = {
    session: session.data,
    state,
    since: statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter),
    limit: pageSize,
    cursor: pageToken === '' ? undefined : pageToken,
  };
  return engine.turns(principal, query).catch((thrown: unknown) => {
    if (thrown instanceof Fault && thrown.code === 'invalid')
      throw new RpcFault('INVALID_PARAMS', 'pageToken: not one of this server');
    throw thrown;
  });
}
