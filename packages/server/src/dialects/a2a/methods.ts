/** The methods of the protocol. */
import { Fault, type Principal, type TurnId } from '@parlance/protocol';
import { mayStaySilent } from '../../http/idle-connections.ts';
import { begin } from './begin.ts';
import type { Context } from './context.ts';
import { RpcFault } from './faults.ts';
import { taskPage } from './list-tasks.ts';
import { isInterrupted, shownTask, type Task } from './objects.ts';
import { paramsOf, type RpcRequest, responseText } from './rpc.ts';
import { GetParams, ListParams, SendParams, TaskParams } from './schemas.ts';
import { TaskFeed } from './task-feed.ts';
import { streamTask } from './task-stream.ts';
import type { IndexedTask } from './tasks.ts';

export type Call = {
  readonly request: Request;
  readonly principal: Principal;
  readonly rpc: RpcRequest;
};

type Method = (ctx: Context, call: Call) => Promise<Response>;

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['SendMessage', sendMessage],
  ['SendStreamingMessage', sendStreamingMessage],
  ['GetTask', getTask],
  ['ListTasks', listTasks],
  ['CancelTask', cancelTask],
  ['SubscribeToTask', subscribeToTask],
]);

/** Methods of the protocol that are not supported. */
function refusedMethod(method: string): RpcFault {
  if (/^(?:Create|Get|List|Delete)TaskPushNotificationConfigs?$/.test(method))
    return new RpcFault('PUSH_NOTIFICATION_NOT_SUPPORTED', 'There are no push notifications.');
  if (method === 'GetExtendedAgentCard')
    return new RpcFault('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'The public agent card is the only one.');
  return new RpcFault('METHOD_NOT_FOUND', 'There is no such method.');
}

/** Throws a `Fault` if the request fails before a response is sent. */
export function execute(ctx: Context, call: Call): Promise<Response> {
  const method = METHODS.get(call.rpc.method);
  if (!method) throw refusedMethod(call.rpc.method);
  return method(ctx, call);
}

const result = ({ rpc }: Call, value: object): Response =>
  new Response(responseText(rpc.id, JSON.stringify(value)), {
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
    throw new RpcFault('UNSUPPORTED_OPERATION', 'The task has ended.');
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
