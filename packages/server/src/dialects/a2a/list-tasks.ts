/** `ListTasks`: the tasks that changed last come first. */
import type { Principal } from '@parlance/protocol';
import type { Context } from './context.ts';
import { RpcFault } from './faults.ts';
import { shownTask, type Task } from './objects.ts';
import type { ListParams } from './schemas.ts';
import type { IndexedTask } from './task-index.ts';

export type TaskPage = {
  readonly tasks: readonly Task[];
  readonly totalSize: number;
  readonly pageSize: number;
  /** empty on the last page */
  readonly nextPageToken: string;
};

export async function taskPage(
  { tasks }: Pick<Context, 'tasks'>,
  principal: Principal,
  params: ListParams,
): Promise<TaskPage> {
  const { contextId, pageSize, pageToken, historyLength, includeArtifacts } = params;
  const after = pageToken === '' ? null : positionOf(pageToken);
  const found = (await tasks.list(principal, contextId)).filter(matches(params)).sort(latestFirst);
  const rest = after ? found.filter((task) => latestFirst(after, task) < 0) : found;
  const page = rest.slice(0, pageSize);
  const shown: Task[] = [];
  for (const indexed of page) {
    const task = await tasks.read(indexed);
    if (task) shown.push(shownTask(includeArtifacts ? task : { ...task, artifacts: [] }, historyLength));
  }
  const last = rest.length > page.length ? page.at(-1) : undefined;
  return {
    tasks: shown,
    totalSize: found.length,
    pageSize,
    nextPageToken: last ? tokenOf(last) : '',
  };
}

function matches({ status, statusTimestampAfter }: ListParams): (task: IndexedTask) => boolean {
  const state = status === 'TASK_STATE_UNSPECIFIED' ? undefined : status;
  const since = statusTimestampAfter === undefined ? null : Date.parse(statusTimestampAfter);
  return (task) =>
    (state === undefined || task.state === state) && (since === null || Date.parse(task.timestamp) > since);
}

type Position = Pick<IndexedTask, 'timestamp' | 'id'>;

/** Timestamps have one form, so they are in order as texts. */
function latestFirst(left: Position, right: Position): number {
  if (left.timestamp !== right.timestamp) return left.timestamp < right.timestamp ? 1 : -1;
  if (left.id === right.id) return 0;
  return left.id < right.id ? 1 : -1;
}

const tokenOf = ({ timestamp, id }: Position): string =>
  Buffer.from(`${timestamp} ${id}`).toString('base64url');

function positionOf(token: string): Position {
  const [, timestamp, id] = /^(\S+Z) (.+)$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (timestamp === undefined || id === undefined)
    throw new RpcFault('INVALID_PARAMS', 'pageToken: not one of this server');
  return { timestamp, id };
}
