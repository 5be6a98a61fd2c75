/** A task as server-sent events, each a JSON-RPC response. */
import type { Fault } from '@parlance/protocol';
import type { EventStream } from '../../http/connection.ts';
import type { Context } from './context.ts';
import { rpcError } from './faults.ts';
import { hasEnded, isInterrupted } from './objects.ts';
import { type RpcId, responseText } from './rpc.ts';
import { TaskFeed } from './task-feed.ts';
import type { IndexedTask } from './tasks.ts';

export type FollowedTask = Pick<IndexedTask, 'id' | 'ref'> & {
  readonly rpcId: RpcId;
  readonly feed: TaskFeed;
  /** the stream ends at once if the task already waits for input */
  readonly endsIfWaiting: boolean;
};

/** Starts with the frames of the feed; there are none if the task has ended. */
export function streamTask(ctx: Context, request: Request, target: FollowedTask): Response {
  const { rpcId } = target;
  return ctx.stream(request, {
    dialect: 'a2a',
    encode: (frame) => eventText(rpcId, JSON.stringify(frame)),
    produce: producer(ctx, target),
  });
}

const eventText = (id: RpcId, text: string): string => `data: ${responseText(id, text)}\n\n`;

const errorText = (id: RpcId, fault: Fault): string =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id, error: rpcError(fault) })}\n\n`;

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
