/** The methods of the protocol. */
import { Fault, type Principal, SessionId, type TurnId } from '@parlance/protocol';
import type { EventStream } from '../../http/connection.ts';
import { mayStaySilent } from '../../http/idle-connections.ts';
import {
  errorMessage,
  invalidParams,
  methodNamed,
  paramsOf,
  RpcFault,
  type RpcId,
  type RpcRequest,
  resultText,
} from '../kit/json-rpc.ts';
import { begin } from './begin.ts';
import type { Context } from './context.ts';
import { CODES, rpcError } from './faults.ts';
import { hasEnded, isInterrupted, shownTask, type Task } from './objects.ts';
import { GetParams, ListParams, SendParams, TaskParams } from './schemas.ts';
import { TaskFeed } from './task-feed.ts';
import { type IndexedTask, taskOf, turnState } from './tasks.ts';

export type Call = {
  readonly request: Request;
  readonly principal: Principal;
  readonly rpc: RpcRequest;
};

type Method = (ctx: Context, call: Call) => Promise<Response>;

const METHODS: Readonly<Record<string, Method>> = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendStreamingMessage,
  GetTask: getTask,
  ListTasks: listTasks,
  CancelTask: cancelTask,
  SubscribeToTask: subscribeToTask,
};

/** Methods of the protocol that are not supported. */
function refusedMethod(method: string): RpcFault {
  if (/^(?:Create|Get|List|Delete)TaskPushNotificationConfigs?$/.test(method))
    return new RpcFault(CODES.PUSH_NOTIFICATION_NOT_SUPPORTED, 'There are no push notifications.');
  if (method === 'GetExtendedAgentCard')
    return new RpcFault(CODES.EXTENDED_AGENT_CARD_NOT_CONFIGURED, 'The public agent card is the only one.');
  return new RpcFault(CODES.method, 'There is no such method.');
}

/** Throws a `Fault` if the request fails before a response is sent. */
export function execute(ctx: Context, call: Call): Promise<Response> {
  const method = methodNamed(METHODS, call.rpc.method);
  if (!method) throw refusedMethod(call.rpc.method);
  return method(ctx, call);
}

const result = ({ rpc }: Call, value: object): Response =>
  new Response(resultText(rpc.id, JSON.stringify(value)), {
    headers: { 'content-type': 'application/json' },
  });

const noTask = (): Fault => new Fault('not_found', 'There is no such task.');

async function sendMessage(ctx: Context, call: Call): Promise<Response> {
  const params = paramsOf(SendParams, call.rpc.params);
  const { returnImmediately, historyLength } = params.configuration;
  const { id, ref, feed } = await begin(ctx, call.principal, params);
  try {
    if (!returnImmediately) await settled(call.request, feed);
    // As long as the feed is open, the task is in memory.
    const task = await ctx.tasks.reread({ id, ref });
    if (!task) throw noTask();
    return result(call, { task: shownTask(task, historyLength) });
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

async function sendStreamingMessage(ctx: Context, call: Call): Promise<Response> {
  const started = await begin(ctx, call.principal, paramsOf(SendParams, call.rpc.params));
  return streamTask(ctx, call.request, { ...started, rpcId: call.rpc.id, endsIfWaiting: true });
}

async function getTask(ctx: Context, call: Call): Promise<Response> {
  const { id, historyLength } = paramsOf(GetParams, call.rpc.params);
  const { task } = await existing(ctx, call.principal, id);
  return result(call, shownTask(task, historyLength));
}

async function listTasks(ctx: Context, call: Call): Promise<Response> {
  return result(call, await taskPage(ctx, call.principal, paramsOf(ListParams, call.rpc.params)));
}

async function cancelTask(ctx: Context, call: Call): Promise<Response> {
  const { principal } = call;
  const { id } = paramsOf(TaskParams, call.rpc.params);
  const { indexed } = await existing(ctx, principal, id);
  const { engine, tasks } = ctx;
  const command = { type: 'turn.cancel', turn: id as TurnId } as const;
  await engine.send(indexed.ref, command, { principal, dialect: 'a2a' });
  const task = await tasks.reread(indexed);
  if (!task) throw noTask();
  return result(call, shownTask(task));
}

async function subscribeToTask(ctx: Context, call: Call): Promise<Response> {
  const { id } = paramsOf(TaskParams, call.rpc.params);
  const { indexed } = await existing(ctx, call.principal, id);
  const { ref } = indexed;
  const feed = new TaskFeed(ctx.hub, { ref, taskId: indexed.id });
  await feed.subscribe();
  if (feed.isEmpty) {
    feed.close();
    throw new RpcFault(CODES.UNSUPPORTED_OPERATION, 'The task has ended.');
  }
  const followed = { id: indexed.id, ref, feed, rpcId: call.rpc.id, endsIfWaiting: false };
  return streamTask(ctx, call.request, followed);
}

async function existing(
  ctx: Context,
  principal: Principal,
  id: string,
): Promise<{ readonly indexed: IndexedTask; readonly task: Task }> {
  const indexed = await ctx.tasks.find(principal, id);
  const task = indexed && (await ctx.tasks.read(indexed));
  if (!indexed || !task) throw noTask();
  return { indexed, task };
}

// `ListTasks`: the tasks that changed last come first.

type TaskPage = {
  readonly tasks: readonly Task[];
  readonly totalSize: number;
  readonly pageSize: number;
  /** empty on the last page */
  readonly nextPageToken: string;
};

async function taskPage(
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
      throw invalidParams('pageToken: not one of this server');
    throw thrown;
  });
}

// A task as server-sent events, each a JSON-RPC response.

type FollowedTask = Pick<IndexedTask, 'id' | 'ref'> & {
  readonly rpcId: RpcId;
  readonly feed: TaskFeed;
  /** the stream ends at once if the task already waits for input */
  readonly endsIfWaiting: boolean;
};

/** Starts with the frames of the feed; there are none if the task has ended. */
function streamTask(ctx: Context, request: Request, target: FollowedTask): Response {
  const { rpcId } = target;
  return ctx.stream(request, {
    dialect: 'a2a',
    encode: (frame) => eventText(rpcId, JSON.stringify(frame)),
    produce: producer(ctx, target),
  });
}

const eventText = (id: RpcId, text: string): string => `data: ${resultText(id, text)}\n\n`;

const errorText = (id: RpcId, fault: Fault): string =>
  `data: ${JSON.stringify(errorMessage(id, rpcError(fault)))}\n\n`;

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, target: FollowedTask) =>
  async (stream: EventStream): Promise<void> => {
    let { feed } = target;
    const closed = Promise.withResolvers<false>();
    stream.onClosing((fault) => {
      feed.close();
      stream.send(errorText(target.rpcId, fault));
      closed.resolve(false);
    });
    try {
      while (await Promise.race([isBehind(ctx, stream, { ...target, feed }), closed.promise])) {
        // Sends nothing until the reader has caught up. It then receives the current task, and continues from
        // there.
        feed.close();
        await stream.ready();
        feed = new TaskFeed(ctx.hub, { ref: target.ref, taskId: target.id });
        await feed.subscribe();
      }
      await stream.ready();
    } finally {
      feed.close();
    }
  };

/**
 * True if the task must be subscribed to again; false if the stream is complete or the reader has disconnected.
 */
async function isBehind(ctx: Context, stream: EventStream, target: FollowedTask): Promise<boolean> {
  const { feed, rpcId, endsIfWaiting } = target;
  if (feed.isEmpty) return isUnfinished(ctx, stream, target);
  const { task } = feed;
  feed.pipe((text, frame, pieces) => stream.send(eventText(rpcId, text), frame, pieces));
  if (task && endsIfWaiting && isInterrupted(task.status.state)) return false;
  const dropped = stream.lost().then((frames) => frames !== null);
  return Promise.race([feed.settled.then(() => false), dropped]);
}

/** A task that has ended does not change: it is sent as it is. */
async function isUnfinished(ctx: Context, stream: EventStream, target: FollowedTask): Promise<boolean> {
  const task = await ctx.tasks.reread(target);
  if (task && !hasEnded(task.status.state)) return stream.open;
  if (task) stream.send(eventText(target.rpcId, JSON.stringify({ task })));
  return false;
}
