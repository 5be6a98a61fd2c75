/** A task as the projection keeps it: a turn, from the message that it answers to its end. */
import type { DurableEvent, SessionEvent } from '@parlance/protocol';
import { type Calls, NO_CALLS } from '../kit/calls.ts';
import { NO_APPROVALS, type WaitingApprovals } from '../kit/waiting-approvals.ts';
import {
  type Message,
  type StreamResponse,
  shownTask,
  type Task,
  type TaskState,
  type TaskStatus,
} from './objects.ts';

export type TaskProgress = {
  readonly id: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly history: readonly Message[];
  /** completed text blocks */
  readonly texts: readonly string[];
  /** how many of them belong to completed steps; the others are discarded if the step restarts */
  readonly settled: number;
  /** clients have received text of the artifact */
  readonly isShown: boolean;
  /** incremented when the sent text is discarded: the rest is in another artifact */
  readonly version: number;
  readonly calls: Calls;
  readonly approvals: WaitingApprovals;
  /** the turn executes a direct call of the user: its result is the answer */
  readonly isDirect: boolean;
};

export const BETWEEN_BLOCKS = '\n\n';

export function newTask(
  { session, at }: Pick<SessionEvent, 'session' | 'at'>,
  id: string,
  input: { readonly message: Message | null; readonly isDirect: boolean },
): TaskProgress {
  return {
    id,
    contextId: session,
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: timestamp(at) },
    history: input.message ? [{ ...input.message, taskId: id }] : [],
    texts: [],
    settled: 0,
    isShown: false,
    version: 1,
    calls: NO_CALLS,
    approvals: NO_APPROVALS,
    isDirect: input.isDirect,
  };
}

export const timestamp = (at: number): string => new Date(at).toISOString();

export const withStatus = (
  task: TaskProgress,
  { at }: Pick<DurableEvent, 'at'>,
  status: { readonly state: TaskState; readonly message?: Message },
): TaskProgress => ({ ...task, status: { ...status, timestamp: timestamp(at) } });

/** `open` is the text of the block being streamed. */
export function taskObject(task: TaskProgress, open = ''): Task {
  const { id, contextId, status, history, texts } = task;
  const text = (open === '' ? texts : [...texts, open]).join(BETWEEN_BLOCKS);
  const artifacts = text === '' ? [] : [{ artifactId: artifactId(task), parts: [{ text }] }];
  return shownTask({ id, contextId, status, artifacts, history });
}

const artifactId = ({ id, version }: TaskProgress): string => (version === 1 ? id : `${id}-${version}`);

export const statusUpdate = ({ id, contextId, status }: TaskProgress): StreamResponse => ({
  statusUpdate: { taskId: id, contextId, status },
});

/** A piece of the answer. */
export const textUpdate = (
  task: TaskProgress,
  text: string,
  { append, lastChunk = false }: { readonly append: boolean; readonly lastChunk?: boolean },
): StreamResponse => ({
  artifactUpdate: {
    taskId: task.id,
    contextId: task.contextId,
    artifact: { artifactId: artifactId(task), parts: [{ text }] },
    append,
    lastChunk,
  },
});
