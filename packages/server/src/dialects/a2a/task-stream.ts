/** A task as server-sent events, each of them a JSON-RPC response. */
import type { EventStream } from '../../http/connection.ts';
import type { Context } from './context.ts';
import { hasEnded, isInterrupted } from './objects.ts';
import { type RpcId, responseText } from './rpc.ts';
import { TaskFeed } from './task-feed.ts';
import type { IndexedTask } from './task-index.ts';

export type Followed = Pick<IndexedTask, 'id' | 'ref'> & {
  readonly rpcId: RpcId;
  readonly feed: TaskFeed;
  /** the stream ends at once if the task waits for an input already */
  readonly endsIfWaiting: boolean;
};

/** The stream begins with what the feed holds: nothing if the task has ended. */
export function streamTask(ctx: Context, request: Request, followed: Followed): Response {
  const { rpcId } = followed;
  return ctx.stream(request, {
    dialect: 'a2a',
    encode: (frame) => eventText(rpcId, JSON.stringify(frame)),
    produce: producer(ctx, followed),
  });
}

const eventText = (id: RpcId, text: string): string => `data: ${responseText(id, text)}\n\n`;

/** Made outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, followed: Followed) =>
  async (stream: EventStream): Promise<void> => {
    let { feed } = followed;
    try {
      while (await isBehind(ctx, stream, { ...followed, feed })) {
        // Nothing may be sent until the reader has caught up; it is then sent the task as it is, and goes on from there.
        feed.close();
        await stream.ready();
        feed = new TaskFeed(ctx.hub, { ref: followed.ref, taskId: followed.id });
        await feed.subscribe();
      }
      await stream.ready();
    } finally {
      feed.close();
    }
  };

/** True if the task has to be subscribed to again; false if the stream is complete or the reader is gone. */
async function isBehind(ctx: Context, stream: EventStream, followed: Followed): Promise<boolean> {
  const { feed, rpcId, endsIfWaiting } = followed;
  if (feed.isEmpty) return isUnfinished(ctx, stream, followed);
  const { task } = feed;
  feed.pipe((text, frame, pieces) => stream.send(eventText(rpcId, text), frame, pieces));
  if (task && endsIfWaiting && isInterrupted(task.status.state)) return false;
  const dropped = stream.lost().then((frames) => frames !== null);
  return Promise.race([feed.settled.then(() => false), dropped]);
}

/** Nothing will happen to a task that has ended: it is sent as it is. */
async function isUnfinished(ctx: Context, stream: EventStream, followed: Followed): Promise<boolean> {
  const task = await ctx.tasks.reread(followed);
  if (task && !hasEnded(task.status.state)) return stream.open;
  if (task) stream.send(eventText(followed.rpcId, JSON.stringify({ task })));
  return false;
}
