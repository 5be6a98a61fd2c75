/** Answers a request with the chunks of a turn. */
import type { EventStream } from '../../http/connection.ts';
import { type LogIds, reported, requestIds } from '../shared/dialect.ts';
import { type Chunk, DONE, encode, pieces } from './chunks.ts';
import type { Context } from './context.ts';
import { sentenceOf } from './faults.ts';
import { type FollowTarget, TurnFollower } from './turn-follower.ts';

/** Proxies must not buffer or compress the stream. */
const HEADERS = {
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
};

export function respond(ctx: Context, request: Request, followed: FollowTarget): Response {
  const response = ctx.stream(request, {
    dialect: 'aisdk',
    encode,
    produce: producer(ctx, followed, requestIds(request)),
  });
  for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value);
  return response;
}

/**
 * The turn continues if the client disconnects. Created outside of the handler: a closure there would keep the
 * request in memory until the stream ends.
 */
const producer =
  (ctx: Context, followed: FollowTarget, ids: LogIds) =>
  async (stream: EventStream): Promise<void> => {
    const { promise: ended, resolve, reject } = Promise.withResolvers<null>();
    const send = (chunk: Chunk) => void stream.send(encode(chunk), chunk, pieces as never);
    ended.catch(() => undefined);
    stream.onClosing(reject);
    try {
      const following = await TurnFollower.open(ctx.engine, followed, {
        chunk: send,
        ready: () => stream.ready(),
        ended: () => resolve(null),
      });
      const dropped = await Promise.race([ended, stream.lost()]).finally(() => following.stop());
      if (dropped) {
        await stream.ready();
        send({ type: 'error', errorText: 'The connection is too slow for this answer: reload the chat.' });
      }
    } catch (thrown) {
      send({ type: 'error', errorText: sentenceOf(reported(thrown, ctx, ids)) });
    }
    stream.send(DONE);
    await stream.ready();
  };
