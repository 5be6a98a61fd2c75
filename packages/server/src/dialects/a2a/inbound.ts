/** In: the methods of the protocol, which its bindings share: messages that start tasks or answer waiting ones, and tasks as streams. */
import {
  type ApprovalAnswer,
  type ApprovalId,
  Fault,
  isObject,
  type Json,
  type JsonObject,
  linkPart,
  type Part,
  type Principal,
  SessionId,
  type TurnId,
  textPart,
} from '@parlance/protocol';
import type { z } from 'zod';
import {
  answerInText,
  type Caller,
  type IndexedTurn,
  type LinkedInput,
  type SessionRef,
} from '../../core/index.ts';
import type { EventStream } from '../../http/connection.ts';
import { mayStaySilent } from '../../http/idle-connections.ts';
import { invalidParams, paramsOf, RpcFault } from '../kit/json-rpc.ts';
import {
  ApprovalPart,
  CODES,
  GetParams,
  hasEnded,
  isInterrupted,
  ListParams,
  type Message,
  PushListParams,
  PushNameParams,
  PushParams,
  SendParams,
  type SentMessage,
  type SentPart,
  type StreamResponse,
  type Task,
  type TaskPage,
  TaskParams,
} from './contract.ts';
import { ANSWER_ID, SENT_PARTS, shownTask } from './outbound.ts';
import type { PushNotifications, Version } from './push.ts';
import {
  type Context,
  contextOf,
  findTask,
  readTask,
  rereadTask,
  TaskFeed,
  taskIdFor,
  taskOfMessage,
  turnState,
} from './tasks.ts';

export type Call = {
  readonly request: Request;
  readonly principal: Principal;
  readonly encoding: StreamEncoding;
  /** of the protocol, as the client speaks it */
  readonly version: Version;
};

/** How a binding writes an event of a stream. */
export type StreamEncoding = {
  /** `text` is the frame as JSON */
  frame(frame: StreamResponse, text: string): string;
  failure(fault: Fault): string;
};

/** Returns the result, or a stream. Throws a `Fault` if the request fails before. */
export type Method<Params> = (ctx: Context, call: Call, params: Params) => Promise<object>;

const method =
  <Schema extends z.ZodType>(schema: Schema, run: Method<z.output<Schema>>): Method<unknown> =>
  async (ctx, call, params) =>
    run(ctx, call, paramsOf(schema, camelCased(params)));

const MAX_DEPTH = 5;

/** The encoding of the protocol allows names as in its definition, `task_id`, as well. What is the sender's own is left as it is. */
function camelCased(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => camelCased(item, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      name === 'metadata' || name === 'data' ? field : camelCased(field, depth + 1),
    ]),
  );
}

/** The methods of the protocol, for all of its bindings. */
export const METHODS: Readonly<Record<string, Method<unknown>>> = {
  SendMessage: method(SendParams, sendMessage),
  SendStreamingMessage: method(SendParams, async (ctx, call, params) => {
    const feed = await submitted(ctx, call, params);
    return streamTask(ctx, call.request, { feed, encoding: call.encoding, endsIfWaiting: true });
  }),
  GetTask: method(GetParams, async (ctx, { principal }, { id, historyLength }) => {
    const { task } = await existing(ctx, principal, id);
    return shownTask(task, historyLength);
  }),
  ListTasks: method(ListParams, listTasks),
  CancelTask: method(TaskParams, async (ctx, { principal }, { id }) => {
    const { turn } = await existing(ctx, principal, id);
    const command = { type: 'turn.cancel', turn: id as TurnId } as const;
    await ctx.engine.send(turn.ref, command, { principal, dialect: 'a2a' });
    const task = await rereadTask(ctx, turn);
    if (!task) throw noTask();
    return shownTask(task);
  }),
  SubscribeToTask: method(TaskParams, async (ctx, { request, principal, encoding }, { id }) => {
    const { turn } = await existing(ctx, principal, id);
    const feed = await TaskFeed.follow(ctx, turn.ref, turn.id);
    if (feed.isEmpty) {
      feed.close();
      throw new RpcFault(CODES.UNSUPPORTED_OPERATION, 'The task has ended.');
    }
    return streamTask(ctx, request, { feed, encoding, endsIfWaiting: false });
  }),
  CreateTaskPushNotificationConfig: method(PushParams, async (ctx, { principal, version }, params) => {
    const push = pushOf(ctx);
    const { taskId, ...config } = params;
    const { turn } = await existing(ctx, principal, taskId);
    const { ref, id } = turn;
    return push.add(principal, { ref, turn: id, config, version, after: await headOf(ctx, ref) });
  }),
  GetTaskPushNotificationConfig: method(PushNameParams, async (ctx, { principal }, { taskId, id }) => {
    const push = pushOf(ctx);
    const { turn } = await existing(ctx, principal, taskId);
    return push.find(turn.ref, turn.id, id);
  }),
  ListTaskPushNotificationConfigs: method(PushListParams, async (ctx, { principal }, { taskId }) => {
    const push = pushOf(ctx);
    const { turn } = await existing(ctx, principal, taskId);
    return { configs: await push.list(turn.ref, turn.id), nextPageToken: '' };
  }),
  DeleteTaskPushNotificationConfig: method(PushNameParams, async (ctx, { principal }, { taskId, id }) => {
    const push = pushOf(ctx);
    const { turn } = await existing(ctx, principal, taskId);
    await push.remove(principal, turn.ref, turn.id, id);
    return {};
  }),
};

function pushOf({ push }: Context): PushNotifications {
  if (push) return push;
  throw new RpcFault(CODES.PUSH_NOTIFICATION_NOT_SUPPORTED, 'There are no push notifications.');
}

const headOf = async ({ engine }: Context, ref: SessionRef): Promise<number> =>
  (await engine.record(ref))?.head ?? 0;

/** Submits the message and remembers where to send the updates that follow it. */
async function submitted(ctx: Context, { principal, version }: Call, params: SendParams): Promise<TaskFeed> {
  const config = params.configuration.taskPushNotificationConfig;
  if (!config) return submit(ctx, principal, params);
  const push = pushOf(ctx);
  const { taskId } = params.message;
  const answered = taskId === undefined ? null : await findTask(ctx, principal, taskId);
  const after = answered ? await headOf(ctx, answered.ref) : 0;
  const feed = await submit(ctx, principal, params);
  try {
    await push.add(principal, { ref: feed.ref, turn: feed.taskId, config, version, after });
    return feed;
  } catch (thrown) {
    feed.close();
    throw thrown;
  }
}

/** Methods of the protocol that are not supported. */
export function refusedMethod(name: string): RpcFault {
  if (name === 'GetExtendedAgentCard')
    return new RpcFault(CODES.EXTENDED_AGENT_CARD_NOT_CONFIGURED, 'The public agent card is the only one.');
  return new RpcFault(CODES.method, 'There is no such method.');
}

const noTask = (): Fault => new Fault('not_found', 'There is no such task.');

async function existing(
  ctx: Context,
  principal: Principal,
  id: string,
): Promise<{ readonly turn: IndexedTurn; readonly task: Task }> {
  const turn = await findTask(ctx, principal, id);
  const task = turn && (await readTask(ctx, turn));
  if (!turn || !task) throw noTask();
  return { turn, task };
}

async function sendMessage(ctx: Context, call: Call, params: SendParams): Promise<object> {
  const { returnImmediately, historyLength } = params.configuration;
  const feed = await submitted(ctx, call, params);
  try {
    if (!returnImmediately) await settled(call.request, feed);
    // As long as the feed is open, the task is in memory.
    const task = await rereadTask(ctx, { id: feed.taskId, ref: feed.ref });
    if (!task) throw noTask();
    return { task: shownTask(task, historyLength) };
  } finally {
    feed.close();
  }
}

/** Resolves when the task has ended or waits for input, or when the client has disconnected. */
async function settled(request: Request, feed: TaskFeed): Promise<void> {
  const { task } = feed;
  if (feed.isEmpty || (task && isInterrupted(task.status.state))) return;
  mayStaySilent(request);
  const gone = Promise.withResolvers<void>();
  const { signal } = request;
  if (signal.aborted) return;
  signal.addEventListener('abort', () => gone.resolve(), { once: true });
  feed.pipe(() => true);
  await Promise.race([feed.settled, gone.promise]);
}

/** The tasks that changed last come first. */
async function listTasks(ctx: Context, { principal }: Call, params: ListParams): Promise<TaskPage> {
  const { pageSize, historyLength, includeArtifacts } = params;
  const { turns, next, total } = await turnsOf(ctx, principal, params);
  const tasks: Task[] = [];
  for (const turn of turns) {
    const task = await readTask(ctx, turn);
    if (task) tasks.push(shownTask(includeArtifacts ? task : { ...task, artifacts: [] }, historyLength));
  }
  return { tasks, totalSize: total, pageSize, nextPageToken: next ?? '' };
}

const NONE = { turns: [], next: null, total: 0 } as const;

async function turnsOf({ engine }: Context, principal: Principal, params: ListParams) {
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
      throw invalidParams('pageToken: not one of this server');
    throw thrown;
  });
}

// A message that starts a task, or answers a waiting one.

/** Follows the task from before the message was submitted; the feed is empty if the task has ended. The caller must close it. */
async function submit(ctx: Context, principal: Principal, params: SendParams): Promise<TaskFeed> {
  const { message } = params;
  const caller: Caller = { principal, dialect: 'a2a' };
  return message.taskId === undefined
    ? startTask(ctx, caller, params)
    : answerTask(ctx, caller, message, message.taskId);
}

async function startTask(ctx: Context, caller: Caller, params: SendParams): Promise<TaskFeed> {
  const { engine } = ctx;
  const { principal } = caller;
  const { messageId, contextId, parts } = params.message;
  const unreadable = parts.find(({ raw, mediaType = '' }) => raw !== undefined && !READABLE.test(mediaType));
  if (unreadable)
    throw new RpcFault(
      CODES.CONTENT_TYPE_NOT_SUPPORTED,
      `Files of the type ${unreadable.mediaType} are not supported.`,
    );
  const ref = contextOf(principal, contextId, messageId);
  if (!ref) throw invalidParams('message.contextId: not the id of a session');
  const id = taskIdFor(ref, messageId);
  return TaskFeed.follow(ctx, ref, id, async (feed) => {
    if (await engine.lookup(principal, { kind: 'turn', id }, 'own')) return feed;
    const input = await usable(ctx, ref, inputOf(ctx, params));
    const { events } = await engine.send(ref, input, { ...caller, key: messageId, turn: id });
    // Without events, the same message was sent in another dialect, or twice at once.
    const other = events.length > 0 ? id : ((await taskOfMessage(ctx, ref, messageId)) ?? id);
    if (other === id) return feed;
    feed.close();
    return TaskFeed.follow(ctx, ref, other);
  });
}

/** What no model reads is refused. A file without a type may be anything. */
const READABLE =
  /^(?:|text\/.+|image\/(?:png|jpeg|webp|gif)|application\/(?:octet-stream|pdf|json|xml|yaml|x-yaml|toml|javascript|typescript|.+\+(?:json|xml)))(?:;.*)?$/i;

function inputOf({ engine }: Context, { message, metadata }: Pick<SendParams, 'message' | 'metadata'>) {
  const skill = metadata?.skillId ?? message.metadata?.skillId;
  if (skill !== undefined && !engine.catalog.listed.agents.some(({ id }) => id === skill))
    throw invalidParams('metadata.skillId: there is no such skill');
  const agent = typeof skill === 'string' ? skill : undefined;
  return {
    type: 'input.submit',
    parts: message.parts.map(corePart),
    data: storedParts(message.parts),
    // The other agent need not have written what it attaches.
    untrusted: message.parts.some(({ text }) => text === undefined),
    agent,
    answeredBy: agent,
  } as const;
}

/** A URL is an ordinary part here: a model that does not accept the link receives the URL as text. */
async function usable<Input extends LinkedInput>(
  { engine }: Context,
  ref: SessionRef,
  input: Input,
): Promise<Input> {
  try {
    await engine.checkLinks(ref, input);
    return input;
  } catch (thrown) {
    if (!(thrown instanceof Fault && thrown.code === 'invalid')) throw thrown;
    const parts = input.parts.map((part) => (part.type === 'text' ? textPart(part.text) : part));
    return { ...input, parts };
  }
}

async function answerTask(
  ctx: Context,
  caller: Caller,
  message: SentMessage,
  taskId: string,
): Promise<TaskFeed> {
  const { contextId, messageId } = message;
  const turn = await findTask(ctx, caller.principal, taskId);
  if (!turn) throw new Fault('not_found', 'There is no such task.');
  const { id, ref } = turn;
  if (contextId !== undefined && contextId !== ref.id)
    throw invalidParams('message.contextId: the task is in another context');
  return TaskFeed.follow(ctx, ref, id, async (feed) => {
    const task = feed.task ?? (await rereadTask(ctx, turn));
    if (task?.history?.some((known) => known.messageId === messageId)) return feed;
    if (!task || hasEnded(task.status.state))
      throw new RpcFault(CODES.UNSUPPORTED_OPERATION, 'The task has ended: send a message without taskId.');
    if (task.status.state !== 'TASK_STATE_INPUT_REQUIRED') throw notPending();
    feed.answering(exchange(task, message));
    if (!(await answerQuestion(ctx, caller, feed, message))) await answerApproval(ctx, caller, feed, message);
    return feed;
  });
}

/** The question and the answer, as they appear in the history. */
function exchange({ id, contextId, status }: Task, { messageId, parts }: SentMessage): Message[] {
  const answer = {
    messageId,
    contextId,
    taskId: id,
    role: 'ROLE_USER',
    parts: parts as Message['parts'],
  } as const;
  return status.message ? [status.message, answer] : [answer];
}

/** False if the task does not wait for the answer to a question. */
async function answerQuestion(
  ctx: Context,
  caller: Caller,
  { ref, taskId }: TaskFeed,
  message: SentMessage,
): Promise<boolean> {
  const { questions, turn } = await ctx.engine.snapshot(ref);
  if (turn !== taskId || questions.length === 0) return false;
  const input = { ...(await usable(ctx, ref, inputOf(ctx, { message }))), answers: true, agent: undefined };
  const { events } = await ctx.engine.send(ref, input, { ...caller, key: message.messageId });
  return events.some((event) => event.type === 'input.accepted' && event.answers !== undefined);
}

// A message to a task that waits for an approval.

type Answer = {
  readonly approval: ApprovalId;
  readonly answer: ApprovalAnswer;
  readonly reason?: string;
  readonly said?: string;
};

/** Throws −32004 if the approval is no longer pending. */
async function answerApproval(
  { engine }: Context,
  caller: Caller,
  { ref, taskId }: TaskFeed,
  message: SentMessage,
): Promise<void> {
  const { approvals } = await engine.snapshot(ref);
  const first = approvals.find(({ turn }) => turn === taskId);
  if (!first) throw notPending();
  const answers = answersOf(message, first.approval);
  const attributes = { [ANSWER_ID]: message.messageId };
  for (const answer of answers) {
    try {
      await engine.send(ref, { type: 'approval.answer', ...answer, attributes }, caller);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      if (thrown.code === 'no_approval') throw notPending();
      if (thrown.code === 'not_found') throw invalidParams('The task has no such pending approval.');
      throw thrown;
    }
  }
}

const notPending = (): RpcFault =>
  new RpcFault(CODES.UNSUPPORTED_OPERATION, 'The task is not waiting for input.');

/** Data parts that name an approval, or plain text about the approval that is shown. */
function answersOf({ parts }: SentMessage, shown: ApprovalId): Answer[] {
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
  if (data.length > 0)
    return data.map((value) => {
      const { approval, ...answer } = paramsOf(ApprovalPart, isObject(value) ? value : {});
      return { approval: approval as ApprovalId, ...answer };
    });
  const words = parts
    .flatMap(({ text }) => text ?? [])
    .join('\n')
    .trim();
  if (words === '') throw invalidParams('message.parts: an answer is a text or a data part');
  return [{ approval: shown, ...wordsAnswer(words) }];
}

const ALWAYS = /^(?:yes[, ]+)?always(?:\.|!+)?$/i;
const MAX_ANSWER_LENGTH = 100;
const MAX_REASON_LENGTH = 10_000;

/** Anything but consent is a denial, with the text as its reason. */
function wordsAnswer(words: string): Omit<Answer, 'approval'> {
  const said = words.length <= MAX_ANSWER_LENGTH ? { said: words } : {};
  if (ALWAYS.test(words)) return { answer: 'always', ...said };
  const spoken = answerInText(words);
  if (spoken !== null) return { answer: spoken, ...said };
  return { answer: 'deny', reason: words.slice(0, MAX_REASON_LENGTH).toWellFormed(), ...said };
}

// Converts the parts of a message to the core.

/** The model receives data as JSON, and a URL as a link or as text: the server does not fetch it. */
function corePart(part: SentPart): Part {
  const { text, data, url, raw, mediaType = 'application/octet-stream', filename } = part;
  if (text !== undefined) return textPart(text);
  if (data !== undefined) return textPart(JSON.stringify(data));
  if (url !== undefined) return urlPart(url, part);
  if (mediaType.startsWith('image/')) return { type: 'image', mime: mediaType, data: raw ?? '' };
  return { type: 'file', name: filename ?? 'file', mime: mediaType, data: raw ?? '' };
}

function urlPart(url: string, { mediaType, filename }: SentPart): Part {
  const kind = mediaType?.startsWith('image/') ? 'image' : 'file';
  const about = { ...(mediaType && { mime: mediaType }), ...(filename && { name: filename }) };
  return linkPart({ kind, url, ...about }) ?? textPart(filename ? `${filename}: ${url}` : url);
}

/** Data to store with the input, so that the history shows its parts as they were sent. */
function storedParts(parts: readonly SentPart[]): JsonObject | undefined {
  const isText = ({ text, raw }: SentPart) => text !== undefined || raw !== undefined;
  if (parts.every(isText)) return undefined;
  const stored = parts.map(({ raw, ...part }): Json => {
    const shown = raw === undefined ? part : { text: `[${part.filename ?? 'a file'}]` };
    return JSON.parse(JSON.stringify(shown)) as Json;
  });
  return { [SENT_PARTS]: stored };
}

// A task as server-sent events.

type StreamedTask = {
  readonly feed: TaskFeed;
  readonly encoding: StreamEncoding;
  /** the stream ends at once if the task already waits for input */
  readonly endsIfWaiting: boolean;
};

/** Starts with the frames of the feed; there are none if the task has ended. */
function streamTask(ctx: Context, request: Request, streamed: StreamedTask): Response {
  const { encoding } = streamed;
  return ctx.stream(request, {
    dialect: 'a2a',
    encode: (frame) => encoding.frame(frame as StreamResponse, JSON.stringify(frame)),
    produce: producer(ctx, streamed),
  });
}

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, streamed: StreamedTask) =>
  async (stream: EventStream): Promise<void> => {
    let { feed } = streamed;
    const closed = Promise.withResolvers<false>();
    stream.onClosing((fault) => {
      feed.close();
      stream.send(streamed.encoding.failure(fault));
      closed.resolve(false);
    });
    try {
      while (await Promise.race([isBehind(ctx, stream, { ...streamed, feed }), closed.promise])) {
        // Sends nothing until the reader has caught up. It then receives the current task, and continues from
        // there.
        feed.close();
        await stream.ready();
        feed = await TaskFeed.follow(ctx, feed.ref, feed.taskId);
      }
      await stream.ready();
    } finally {
      feed.close();
    }
  };

/**
 * True if the task must be subscribed to again; false if the stream is complete or the reader has disconnected.
 */
async function isBehind(ctx: Context, stream: EventStream, streamed: StreamedTask): Promise<boolean> {
  const { feed, encoding, endsIfWaiting } = streamed;
  const { task, ref, taskId } = feed;
  if (feed.isEmpty) {
    // A task that has ended does not change: it is sent as it is.
    const ended = await rereadTask(ctx, { id: taskId, ref });
    if (ended && !hasEnded(ended.status.state)) return stream.open;
    if (ended) stream.send(encoding.frame({ task: ended }, JSON.stringify({ task: ended })));
    return false;
  }
  feed.pipe((text, frame, pieces) => stream.send(encoding.frame(frame, text), frame, pieces));
  if (task && endsIfWaiting && isInterrupted(task.status.state)) return false;
  const dropped = stream.lost().then((frames) => frames !== null);
  return Promise.race([feed.settled.then(() => false), dropped]);
}
