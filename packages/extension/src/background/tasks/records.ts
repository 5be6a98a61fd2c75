/** The tasks in the storage, by session. */
import { tasks } from '../../shared/storage.ts';
import { isRunning, type TaskRecord, type TaskState } from '../../shared/task-record.ts';

/** Ended tasks are kept for display. */
const MAX_KEPT = 20;

export const taskOf = async (session: string): Promise<TaskRecord | null> =>
  (await tasks.get())[session] ?? null;

export type NewTask = Pick<TaskRecord, 'session' | 'tab' | 'query'>;

export const newTask = (options: NewTask): TaskRecord => ({
  ...options,
  id: crypto.randomUUID(),
  opened: [],
  allowed: [],
  taskId: null,
  actionCount: 0,
  plan: null,
  state: { phase: 'asking-server', reply: null },
  problem: null,
});

export async function putTask(task: TaskRecord): Promise<void> {
  await tasks.change((all) => {
    const { [task.session]: _, ...others } = all;
    const ended = Object.values(others).filter((other) => !isRunning(other));
    const dropped = new Set(
      ended.slice(0, Math.max(0, ended.length - MAX_KEPT)).map(({ session }) => session),
    );
    const remaining = Object.entries(others).filter(([session]) => !dropped.has(session));
    return Object.fromEntries([...remaining, [task.session, task]]);
  });
}

/** Changes the task unless it has ended or another one has taken its place. Null then. */
export async function changeTask(
  { id, session }: Pick<TaskRecord, 'id' | 'session'>,
  change: Partial<TaskRecord>,
): Promise<TaskRecord | null> {
  const all = await tasks.change((before) => {
    const task = before[session];
    return task?.id === id && isRunning(task) ? { ...before, [session]: { ...task, ...change } } : before;
  });
  const task = all[session];
  return task?.id === id ? task : null;
}

export const ended = (
  outcome: Extract<TaskState, { phase: 'ended' }>['outcome'],
  message: string,
): { state: TaskState; problem: null } => ({ state: { phase: 'ended', outcome, message }, problem: null });
