/** `ListTasks`: the last changed tasks first. */
import type { Principal } from '@parlance/protocol';
import type { SessionRecord } from '../../core/api/index.ts';
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

/**
 * The most sessions that are read for one page, last changed first. Tasks of older sessions can be listed by
 * context.
 */
const MOST_SESSIONS = 2_000;

export async function taskPage(
  { tasks }: Pick<Context, 'tasks'>,
  principal: Principal,
  params: ListParams,
): Promise<TaskPage> {
  const { pageSize, historyLength, includeArtifacts } = params;
  const { rest, totalSize } = await search(tasks, principal, params);
  const page = rest.slice(0, pageSize);
  const shown: Task[] = [];
  for (const indexed of page) {
    const task = await tasks.read(indexed);
    if (task) shown.push(shownTask(includeArtifacts ? task : { ...task, artifacts: [] }, historyLength));
  }
  const last = rest.length > page.length ? page.at(-1) : undefined;
  return { tasks: shown, totalSize, pageSize, nextPageToken: last ? tokenOf(last) : '' };
}

type Found = {
  /** the tasks from the position of the page on: those of the page, and at least one more if there is one */
  readonly rest: readonly IndexedTask[];
  readonly totalSize: number;
};

/**
 * Reads sessions until the page is complete. With a filter all are read, because the matching tasks are
 * counted.
 */
async function search(tasks: Context['tasks'], principal: Principal, params: ListParams): Promise<Found> {
  const { contextId, pageSize, pageToken } = params;
  const after = pageToken === '' ? null : positionOf(pageToken);
  const { isWanted, status, since } = filterOf(params);
  const isCounted = contextId !== undefined || status !== undefined || since !== null;
  let rest: IndexedTask[] = [];
  let matching = 0;
  let read = 0;
  for await (const record of tasks.sessions(principal, { contextId, status: sessionStatus(status) })) {
    if (read++ === MOST_SESSIONS || (since !== null && record.updatedAt <= since)) break;
    if (!isCounted && isComplete(rest, pageSize, record)) break;
    const wanted = (await tasks.of(record)).filter(isWanted);
    matching += wanted.length;
    rest.push(...wanted.filter((task) => !after || latestFirst(after, task) < 0));
    if (rest.length > 2 * pageSize) rest = rest.sort(latestFirst).slice(0, pageSize + 1);
  }
  return {
    rest: rest.sort(latestFirst),
    totalSize: isCounted ? matching : await tasks.count(principal),
  };
}

/** Whether this session and the following ones have no task before the end of the page. */
function isComplete(rest: IndexedTask[], pageSize: number, { updatedAt }: SessionRecord): boolean {
  if (rest.length <= pageSize) return false;
  const next = rest.sort(latestFirst)[pageSize];
  return next !== undefined && Date.parse(next.timestamp) > updatedAt;
}

function filterOf({ status: given, statusTimestampAfter }: ListParams) {
  const status = given === 'TASK_STATE_UNSPECIFIED' ? undefined : given;
  const since = statusTimestampAfter === undefined ? null : Date.parse(statusTimestampAfter);
  const isWanted = (task: IndexedTask): boolean =>
    (status === undefined || task.state === status) && (since === null || Date.parse(task.timestamp) > since);
  return { isWanted, status, since };
}

/** Only running and waiting sessions have unfinished tasks. */
const sessionStatus = (status: ListParams['status']): SessionRecord['status'][] | undefined =>
  status === undefined || ENDED.includes(status) ? undefined : ['running', 'waiting'];

const ENDED: readonly ListParams['status'][] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
];

type Position = Pick<IndexedTask, 'timestamp' | 'id'>;

/** Timestamps have a fixed format, so they can be compared as strings. */
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
