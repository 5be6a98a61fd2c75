/** The official client against a test server. */
import {
  type Message,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';

export const connect = (http: string): Promise<Client> => new ClientFactory().createFromUrl(http);

export type About = { readonly messageId?: string; readonly contextId?: string; readonly taskId?: string };

type Content = NonNullable<Message['parts'][number]['content']>;

const partOf = (content: Content): Message['parts'][number] => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType: '',
});

export const dataOf = (value: unknown): Content => ({ $case: 'data', value });

export const messageOf = (content: string | Content, about: About = {}): Message => ({
  messageId: about.messageId ?? crypto.randomUUID(),
  contextId: about.contextId ?? '',
  taskId: about.taskId ?? '',
  role: Role.ROLE_USER,
  parts: [partOf(typeof content === 'string' ? { $case: 'text', value: content } : content)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

export const requestOf = (
  message: Message,
  configuration: { readonly returnImmediately?: boolean; readonly historyLength?: number } = {},
): SendMessageRequest => ({
  tenant: '',
  message,
  configuration: {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    historyLength: configuration.historyLength,
    returnImmediately: configuration.returnImmediately ?? false,
  },
  metadata: undefined,
});

/** Sends a message and resolves with the task that answers it. */
export async function send(client: Client, content: string | Content, about: About = {}): Promise<Task> {
  return taskOf(await client.sendMessage(requestOf(messageOf(content, about))));
}

export const sendAtOnce = async (client: Client, text: string, about: About = {}): Promise<Task> =>
  taskOf(await client.sendMessage(requestOf(messageOf(text, about), { returnImmediately: true })));

function taskOf(result: Message | Task): Task {
  if (!('status' in result)) throw new Error('the answer is a message');
  return result;
}

export const stream = (client: Client, content: string | Content, about: About = {}) =>
  client.sendMessageStream(requestOf(messageOf(content, about)));

/** Every parameter of `listTasks`, unset. */
export const LIST = {
  tenant: '',
  contextId: '',
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageSize: undefined,
  pageToken: '',
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: undefined,
};

export const subscribe = (client: Client, id: string) => client.resubscribeTask({ tenant: '', id });
export const getTask = (client: Client, id: string, historyLength?: number) =>
  client.getTask({ tenant: '', id, historyLength });
export const cancelTask = (client: Client, id: string) =>
  client.cancelTask({ tenant: '', id, metadata: undefined });

export const stateOf = ({ status }: Pick<Task, 'status'>): string =>
  TaskState[status?.state ?? 0] as keyof typeof TaskState;

const wordsOf = (parts: Message['parts']): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

export const textOf = ({ artifacts }: Task): string => artifacts.map(({ parts }) => wordsOf(parts)).join('|');

/** The content of a stream. */
export type Shown = {
  /** the kinds of its events, in order; a status with its state */
  readonly kinds: string[];
  /** the pieces of text, by artifact */
  readonly pieces: Map<string, string[]>;
  readonly flags: [append: boolean, lastChunk: boolean][];
  task: Task | null;
};

export async function read(
  events: AsyncIterable<StreamResponse>,
  each: (shown: Shown, piece: string | null) => unknown = () => undefined,
): Promise<Shown> {
  const shown: Shown = { kinds: [], pieces: new Map(), flags: [], task: null };
  for await (const { payload } of events) {
    let piece: string | null = null;
    if (payload?.$case === 'task') shown.task ??= payload.value;
    if (payload?.$case === 'artifactUpdate') {
      const { artifact, append, lastChunk } = payload.value;
      piece = wordsOf(artifact?.parts ?? []);
      const id = artifact?.artifactId ?? '';
      shown.pieces.set(id, [...(shown.pieces.get(id) ?? []), piece]);
      shown.flags.push([append, lastChunk]);
    }
    const isStatus = payload?.$case === 'statusUpdate';
    shown.kinds.push(isStatus ? stateOf(payload.value) : String(payload?.$case));
    if ((await each(shown, piece)) === 'stop') break;
  }
  return shown;
}

/** The text of the last artifact. */
export const lastText = ({ pieces }: Shown): string => [...pieces.values()].at(-1)?.join('') ?? '';

export const wordsOfMessage = (message: Message | undefined): string => wordsOf(message?.parts ?? []);

/** The error of a call; null if it succeeds. */
export const failure = (asked: PromiseLike<unknown>): PromiseLike<unknown> =>
  asked.then(
    () => null,
    (error: unknown) => error,
  );
