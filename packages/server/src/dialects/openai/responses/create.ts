/** `POST /responses`. */
import type { EventStream } from '../../../http/connection.ts';
import { mayStaySilent } from '../../../http/idle-connections.ts';
import type { Accepted, ChatRequest } from '../../kit/chat-request.ts';
import type { AuthenticatedRequest } from '../../kit/vendor-requests.ts';
import type { Context } from '../context.ts';
import { chatRequestOf } from './request.ts';
import { cancelTurn, type NumberedEvent, ResponseFollower } from './response-follower.ts';

import { Restarts } from './restarts.ts';
import type { ResponseRequest } from './schemas.ts';
import { type Segment, segmentAt } from './segment.ts';
import { encodeEvent, responseStream } from './stream.ts';

type AnswerOptions = {
  readonly chat: ChatRequest;
  readonly accepted: Accepted;
  readonly segment: Segment;
};

export async function createResponse(
  ctx: Context,
  incoming: AuthenticatedRequest,
  body: ResponseRequest,
): Promise<Response> {
  const chat = await chatRequestOf(ctx, incoming, body);
  const accepted = await ctx.sessions.accept(chat, incoming.progress);
  const segment = await segmentAt(ctx, accepted.ref, accepted.start);
  if (!segment) throw new Error('an accepted request has no segment');
  const answering = { chat, accepted, segment };
  if (body.stream) return streamed(ctx, incoming.request, answering);
  if (body.background) return background(ctx, answering);
  return whole(ctx, incoming.request, answering);
}

async function whole(ctx: Context, request: Request, answering: AnswerOptions): Promise<Response> {
  mayStaySilent(request);
  const follower = await ResponseFollower.open(ctx, answering.segment);
  const gone = () => abandon(ctx, answering, follower);
  if (request.signal.aborted) gone();
  request.signal.addEventListener('abort', gone, { once: true });
  await follower.done.finally(() => request.signal.removeEventListener('abort', gone));
  if (follower.fault) throw follower.fault;
  await remember(ctx, answering, follower);
  return Response.json(follower.response);
}

async function background(ctx: Context, answering: AnswerOptions): Promise<Response> {
  const follower = await ResponseFollower.open(ctx, answering.segment);
  const { response } = follower;
  void follower.done.then(() => remember(ctx, answering, follower));
  return Response.json(response);
}

function streamed(ctx: Context, request: Request, answering: AnswerOptions): Response {
  return ctx.stream(request, {
    dialect: 'openai',
    encode: (frame) => encodeEvent(frame as NumberedEvent),
    produce: producer(ctx, answering),
  });
}

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, answering: AnswerOptions) =>
  async (stream: EventStream): Promise<void> => {
    let last: NumberedEvent | null = null;
    const events = responseStream(stream);
    const { accepted, chat } = answering;
    const restarts = await Restarts.of(ctx, { ref: accepted.ref, principal: chat.principal });
    const follower = await ResponseFollower.open(ctx, answering.segment, {
      emit: (event) => {
        // The conversation is stored before the client can continue it.
        if (isLast(event)) last = event;
        else events.send(event);
      },
      restarts,
    });
    void events.gone.then(() => abandon(ctx, answering, follower));
    const isBackground = answering.segment.head.data.background;
    const done = follower.done.then(() => remember(ctx, answering, follower));
    await Promise.race([done, events.closed, ...(isBackground ? [events.gone] : [])]);
    if (last) events.send(last);
    await events.ready();
  };

const LAST = new Set(['response.completed', 'response.failed', 'response.incomplete']);
const isLast = ({ type }: NumberedEvent): boolean => LAST.has(type);

/**
 * The client disconnected: cancels the turn that its request started or continued, unless it runs in the
 * background.
 */
function abandon(ctx: Context, { accepted, chat, segment }: AnswerOptions, follower: ResponseFollower): void {
  if (follower.isOver || segment.head.data.background) return;
  if (accepted.again || ctx.engine.draining) return void follower.abandon();
  void cancelTurn(ctx, chat.principal, follower).finally(() => follower.abandon());
}

/**
 * If this fails, the next request creates a new session with the same history: no reason to fail this request.
 */
async function remember(
  ctx: Context,
  { accepted, chat }: AnswerOptions,
  follower: ResponseFollower,
): Promise<void> {
  if (accepted.again || follower.fault) return;
  await ctx.sessions.remember(accepted, chat, follower.items).catch((thrown: unknown) => {
    ctx.log.warn({ err: thrown, session: accepted.ref.id }, 'failed to store history digest');
  });
}
