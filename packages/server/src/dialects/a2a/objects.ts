/**
 * The objects of A2A 1.0 that the server sends, in the protocol's JSON encoding. The types of the official package are those of
 * decoded objects, which have other names; its reader checks the golden files.
 */
import type { Json, JsonObject } from '@parlance/protocol';

export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

export type Part = { readonly mediaType?: string; readonly filename?: string } & (
  | { readonly text: string }
  | { readonly data: Json }
  | { readonly url: string }
  | { readonly raw: string }
);

export type Message = {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly role: 'ROLE_USER' | 'ROLE_AGENT';
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
};

export type TaskStatus = {
  readonly state: TaskState;
  readonly message?: Message;
  readonly timestamp: string;
};

export type Artifact = { readonly artifactId: string; readonly parts: readonly Part[] };

export type Task = {
  readonly id: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
};

type About = { readonly taskId: string; readonly contextId: string };

/** An element of a stream. */
export type StreamResponse =
  | { readonly task: Task }
  | { readonly statusUpdate: About & { readonly status: TaskStatus } }
  | {
      readonly artifactUpdate: About & {
        readonly artifact: Artifact;
        readonly append: boolean;
        readonly lastChunk: boolean;
      };
    };

export function taskIdOf(response: StreamResponse): string {
  if ('task' in response) return response.task.id;
  return 'statusUpdate' in response ? response.statusUpdate.taskId : response.artifactUpdate.taskId;
}

const ENDED: ReadonlySet<TaskState> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
]);

export const hasEnded = (state: TaskState): boolean => ENDED.has(state);

/** A stream and a blocking request end in such a state. */
export const isInterrupted = (state: TaskState): boolean =>
  state === 'TASK_STATE_INPUT_REQUIRED' || hasEnded(state);

/** With only the latest messages of the history, and without empty fields. */
export function shownTask(task: Task, historyLength?: number): Task {
  const { history = [], artifacts = [], ...rest } = task;
  const from = Math.max(0, history.length - (historyLength ?? history.length));
  const latest = history.slice(from);
  return {
    ...rest,
    ...(artifacts.length > 0 && { artifacts }),
    ...(latest.length > 0 && { history: latest }),
  };
}
