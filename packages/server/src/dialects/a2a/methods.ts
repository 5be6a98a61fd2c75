/** In: the methods of the protocol, which its bindings share, and tasks as streams. */
import { Fault, isObject, type Principal, SessionId, type TurnId } from '@parlance/protocol';
import type { z } from 'zod';
import type { IndexedTurn, SessionRef } from '../../core/index.ts';
import type { EventStream } from '../../http/connection.ts';
import { mayStaySilent } from '../../http/idle-connections.ts';
import { invalidParams, paramsOf, RpcFault } from '../kit/json-rpc.ts';
import {
  CODES,
  GetParams,
  hasEnded,
  isInterrupted,
  ListParams,
  PushListParams,
  PushNameParams,
  PushParams,
  SendParams,
  type StreamResponse,
  type Task,
  type TaskPage,
  TaskParams,
} from './contract.ts';
import { shownTask } from './outbound.ts';
import type { PushNotifications, Version } from './push.ts';
import { submit } from './send-message.ts';
import { type Context, findTask, readTask, rereadTask, TaskFeed, turnState } from './tasks.ts';

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
