/**
 * `aisdk`: pages with `useChat` of the Vercel AI SDK, or any client of its UI message stream. A chat is a
 * session, the message of an answer has the id of its turn, and messages of the user keep the ids of their
 * page. A disconnect does not end the turn: the page resumes the stream, or stops the turn. Not sent: message
 * metadata, sources and custom data parts.
 */

import { Fault, type FaultCode, type Principal } from '@parlance/protocol';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { requirePermission, type SessionRef } from '../../core/index.ts';
import type { EventStream } from '../../http/connection.ts';
import { principalOf } from '../../http/request-identity.ts';
import { type DialectContext, defineDialect, type LogIds, reported, requestIds } from '../kit/dialect.ts';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { KeyedQueue } from '../kit/keyed-queue.ts';
import { requestLimit } from '../kit/request-limit.ts';
import { retryText, setRetryAfter } from '../kit/retry.ts';
import { body } from '../kit/vendor-requests.ts';
import { begin } from './begin.ts';
import { type Chunk, DONE, encode, pieces } from './chunks.ts';
import { cursorOf, historyOf, MAX_MESSAGES, positionOf } from './history.ts';

import { runningInput } from './log.ts';
import { projection } from './projection.ts';
import { ChatRequest, HistoryQuery } from './schemas.ts';
import { type FollowTarget, TurnFollower } from './turn-follower.ts';

// Faults as one plain sentence: clients show the body as the error message.

const statusOf = ({ code }: { readonly code: FaultCode }): ContentfulStatusCode => HTTP_STATUS[code];

const sentenceOf = (fault: Fault): string => sentence(retryText(fault));

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
const refusal = (_status: number, reason: string): string => sentence(reason);

const sentence = (words: string): string => (/[.!?]$/.test(words) ? words : `${words}.`);

export const aisdk = defineDialect({
  name: 'aisdk',
  listen: [{ http: '/api/chat/*' }],
  inbound: (ctx) => ({ routes: (app) => routes(app, ctx) }),
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});

// In: the HTTP endpoints.

function routes(app: Hono, given: Omit<Context, 'queue'>): void {
  const ctx: Context = { ...given, queue: new KeyedQueue() };
  const { engine, authenticator, queue } = ctx;
  const api = new Hono();
  api.use('/*', requestLimit(ctx));

  api.post('/', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const request = await body(ctx, c.req.raw, ChatRequest);
    const ref = await engine.resolve(principal, request.id);
    const target = { engine, ref, caller: { principal, dialect: 'aisdk' } };
    const followed = await queue.run(`${ref.owner} ${ref.id}`, () => begin(target, request));
    return respond(ctx, c.req.raw, followed);
  });

  api.get('/:id/stream', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    requirePermission(principal, 'chat:read');
    const ref = await engine.find(principal, c.req.param('id'));
    const isRunning = ref && (await engine.record(ref))?.status === 'running';
    const input = isRunning && (await runningInput(engine, await engine.snapshot(ref)));
    return input ? respond(ctx, c.req.raw, { ref, input, known: null }) : c.body(null, 204);
  });

  api.post('/:id/stop', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const ref = await existing(principal, c.req.param('id'));
    await engine.send(ref, { type: 'turn.cancel' }, { principal, dialect: 'aisdk' }).catch(unlessIdle);
    return c.body(null, 204);
  });

  api.get('/:id', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    requirePermission(principal, 'chat:read');
    const ref = await existing(principal, c.req.param('id'));
    const { limit, before } = historyQuery(c.req.query());
    const page = { limit, ...(before !== undefined && { position: positionOf(before) }) };
    const { snapshot, messages, before: earlier } = await historyOf(engine, ref, page);
    const { title } = snapshot;
    return c.json({
      id: ref.id,
      ...(title !== '' && { title }),
      messages,
      ...(earlier && { before: cursorOf(earlier) }),
    });
  });

  api.onError((thrown, c) => {
    const fault = reported(thrown, ctx, requestIds(c.req.raw));
    if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
    setRetryAfter(c, fault);
    return c.text(sentenceOf(fault), statusOf(fault));
  });

  /** Throws `not_found`, also for a chat of another user. */
  async function existing(principal: Principal, id: string): Promise<SessionRef> {
    const ref = await engine.find(principal, id);
    if (!ref || !(await engine.record(ref))) throw new Fault('not_found', 'There is no such chat.');
    return ref;
  }

  app.route('/api/chat', api);
}

function historyQuery(given: Record<string, string>): HistoryQuery {
  const { success, data } = HistoryQuery.safeParse(given);
  if (!success) throw new Fault('invalid', `limit is a number from 1 to ${MAX_MESSAGES}.`);
  return data;
}

/** A turn that has ended in the meantime need not be stopped. */
function unlessIdle(thrown: unknown): void {
  if (!(thrown instanceof Fault && thrown.code === 'no_turn')) throw thrown;
}

// Answers a request with the chunks of a turn.

/** Proxies must not buffer or compress the stream. */
const HEADERS = {
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
};

function respond(ctx: Context, request: Request, followed: FollowTarget): Response {
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
        const errorText = 'The connection is too slow for this answer: reload the chat.';
        // Sent after what is in flight: do not wait for it with the answer in memory.
        return void stream.send(encode({ type: 'error', errorText }) + DONE);
      }
    } catch (thrown) {
      send({ type: 'error', errorText: sentenceOf(reported(thrown, ctx, ids)) });
    }
    stream.send(DONE);
    await stream.ready();
  };

/** The context of the endpoints. */
type Context = Pick<
  DialectContext,
  'countRequest' | 'authenticator' | 'engine' | 'log' | 'readBody' | 'stream'
> & {
  /** runs requests about one session one after another */
  readonly queue: KeyedQueue;
};
