/**
 * `aisdk`: pages with `useChat` of the Vercel AI SDK, or any client of its UI message stream. A chat is a
 * session, the message of an answer has the id of its turn, and messages of the user keep the ids of their
 * page. A disconnect does not end the turn: the page resumes the stream, or stops the turn. Not sent: message
 * metadata, sources and custom data parts.
 *
 * The protocol is in `dialect.ts`, `contract.ts`, `inbound.ts` and `outbound.ts`. Beside it: `history.ts` makes messages of the chunks of
 * earlier turns, `log.ts` finds the inputs of messages.
 */
import { Fault, type Principal } from '@parlance/protocol';
import { type Engine, requirePermission, type SessionRef, sessionKey } from '../../core/index.ts';
import type { EventStream } from '../../http/connection.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import type { Examples, RequestExample } from '../kit/description.ts';
import { type DialectContext, defineDialect, type LogIds, reported, requestIds } from '../kit/dialect.ts';
import { endpointOf } from '../kit/endpoint.ts';
import { HTTP_STATUS, retryText } from '../kit/faults.ts';
import { invalidRequest } from '../kit/vendor-requests.ts';
import { ChatRequest, type Chunk, description, examples, HistoryQuery, type schemas } from './contract.ts';
import { cursorOf, historyOf, positionOf } from './history.ts';
import { begin } from './inbound.ts';
import { runningInput } from './log.ts';
import { DONE, encode, type FollowTarget, followTurn, pieces, projection } from './outbound.ts';

/** The queue runs requests about one session one after another. */
type Context = DialectContext & { readonly queue: KeyedQueue };

const endpoint = endpointOf<Context, ReturnType<typeof schemas>>();

const STREAM = {
  description: 'The answer as a UI message stream',
  type: 'text/event-stream',
  text: 'chunks from `start` to `finish`, `error` or `abort`, then `[DONE]`',
  headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
} as const;

const named: Examples<RequestExample> = ({ session }) => [{ params: { id: session } }];

const mayRead = ({ principal }: { readonly principal: Principal }): void =>
  requirePermission(principal, 'chat:read');

const endpoints = [
  endpoint({
    method: 'post',
    path: '/api/chat',
    summary: 'Send, edit or regenerate a message, or continue an answer; returns the answer as a stream',
    body: ChatRequest,
    examples,
    answers: { 200: STREAM },
    errors: [400, 401, 403, 404, 409, 413, 429, 503],
    async handle({ request, principal, body }, ctx) {
      const { engine, queue } = ctx;
      const ref = await engine.resolve(principal, body.id);
      const target = { engine, ref, caller: { principal, dialect: 'aisdk' } };
      return respond(ctx, request, await queue.run(sessionKey(ref), () => begin(target, body)));
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/chat/{id}',
    summary: 'The title and messages of a chat, from all dialects',
    query: HistoryQuery,
    examples: named,
    answers: { 200: { description: 'The chat', schema: 'ChatView' } },
    errors: [401, 403, 404, 429],
    allow: mayRead,
    async handle({ params, query: { limit, before }, principal }, { engine }) {
      const ref = await existing(engine, principal, params.id);
      const position = before === undefined ? undefined : positionOf(before);
      const { title, messages, before: earlier } = await historyOf(engine, ref, { limit, position });
      return {
        id: ref.id,
        ...(title !== '' && { title }),
        messages,
        ...(earlier && { before: cursorOf(earlier) }),
      };
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/chat/{id}/stream',
    summary: 'Resume the running answer, from its start',
    examples: ({ session }) => [{ params: { id: session }, stream: true }],
    answers: { 200: STREAM, 204: { description: 'No answer is running' } },
    errors: [401, 403, 429],
    allow: mayRead,
    async handle({ request, params, principal }, ctx) {
      const { engine } = ctx;
      const ref = await engine.find(principal, params.id);
      const isRunning = ref && (await engine.record(ref))?.status === 'running';
      const input = isRunning && (await runningInput(engine, await engine.snapshot(ref)));
      if (input) return respond(ctx, request, { ref, input, known: null });
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/chat/{id}/stop',
    summary: 'Stop the running answer',
    examples: named,
    answers: { 204: { description: 'No answer is running' } },
    errors: [401, 403, 404, 429],
    async handle({ params, principal }, { engine }) {
      const ref = await existing(engine, principal, params.id);
      const stopped = engine.send(ref, { type: 'turn.cancel' }, { principal, dialect: 'aisdk' });
      await stopped.catch((thrown: unknown) => {
        // The turn has ended in the meantime.
        if (!(thrown instanceof Fault && thrown.code === 'no_turn')) throw thrown;
      });
    },
  }),
];

/** Throws `not_found`, also for a chat of another user. */
async function existing(engine: Engine, principal: Principal, id: string): Promise<SessionRef> {
  const ref = await engine.find(principal, id);
  if (!ref || !(await engine.record(ref))) throw new Fault('not_found', 'There is no such chat.');
  return ref;
}

/** Proxies must not buffer or compress the stream. */
const HEADERS = {
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
};

/** Answers with the chunks of a turn. */
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
      const reader = await followTurn(ctx.engine, followed, {
        chunk: send,
        ready: () => stream.ready(),
        ended: () => resolve(null),
      });
      const dropped = await Promise.race([ended, stream.lost()]).finally(() => reader.stop());
      if (dropped) {
        const errorText = 'The connection is too slow for this answer: reload the chat.';
        // Sent after what is in flight: do not wait for it with the answer in memory.
        return void stream.send(encode({ type: 'error', errorText }) + DONE);
      }
    } catch (thrown) {
      send({ type: 'error', errorText: sentence(retryText(reported(thrown, ctx, ids))) });
    }
    stream.send(DONE);
    await stream.ready();
  };

/** Clients show the body of an error as its message. */
const sentence = (words: string): string => (/[.!?]$/.test(words) ? words : `${words}.`);

export const aisdk = defineDialect({
  name: 'aisdk',
  listen: [{ http: '/api/chat/*' }],
  inbound: (ctx) => ({ rest: { ...ctx, queue: new KeyedQueue() } }),
  rest: {
    endpoints,
    invalid: invalidRequest,
    fault: (fault, c) => c.text(sentence(retryText(fault)), HTTP_STATUS[fault.code]),
  },
  projection,
  faults: { refusal: (_status, reason) => sentence(reason) },
  describe: async () => description(),
});
