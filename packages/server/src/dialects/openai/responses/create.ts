/** `POST /responses`. */
import type { EventStream } from '../../../http/connection.ts';
import { mayStaySilent } from '../../../http/idle-connections.ts';
import type { Accepted, Question } from '../../shared/exchange/question.ts';
import type { Asked } from '../../shared/exchange/requests.ts';
import type { Context } from '../context.ts';
import { cancelTurn } from './cancel.ts';
import { Following, type NumberedEvent } from './following.ts';
import { questionOf } from './question.ts';
import { Restarts } from './restarts.ts';
import type { ResponseRequest } from './schemas.ts';
import { type Segment, segmentAt } from './segment.ts';
import { encodeEvent } from './stream.ts';

type Answering = {
  readonly question: Question;
  readonly accepted: Accepted;
  readonly segment: Segment;
};

export async function createResponse(ctx: Context, asked: Asked, body: ResponseRequest): Promise<Response> {
  const question = await questionOf(ctx, asked, body);
  const accepted = await ctx.sessions.accept(question, asked.progress);
  const segment = await segmentAt(ctx, accepted.ref, accepted.start);
  if (!segment) throw new Error('an accepted request has no segment');
  const answering = { question, accepted, segment };
  if (body.stream) return streamed(ctx, asked.request, answering);
  if (body.background) return background(ctx, answering);
  return whole(ctx, asked.request, answering);
}

async function whole(ctx: Context, request: Request, answering: Answering): Promise<Response> {
  mayStaySilent(request);
  const following = await Following.open(ctx, answering.segment);
  const gone = () => abandon(ctx, answering, following);
  if (request.signal.aborted) gone();
  request.signal.addEventListener('abort', gone, { once: true });
  await following.done.finally(() => request.signal.removeEventListener('abort', gone));
  if (following.fault) throw following.fault;
  await remember(ctx, answering, following);
  return Response.json(following.response);
}

async function background(ctx: Context, answering: Answering): Promise<Response> {
  const following = await Following.open(ctx, answering.segment);
  const { response } = following;
  void following.done.then(() => remember(ctx, answering, following));
  return Response.json(response);
}

function streamed(ctx: Context, request: Request, answering: Answering): Response {
  return ctx.stream(request, {
    dialect: 'openai',
    encode: (frame) => encodeEvent(frame as NumberedEvent),
    produce: producer(ctx, answering),
  });
}

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, answering: Answering) =>
  async (stream: EventStream): Promise<void> => {
    let last: NumberedEvent | null = null;
    const { accepted, question } = answering;
    const restarts = await Restarts.of(ctx, { ref: accepted.ref, principal: question.principal });
    const following = await Following.open(ctx, answering.segment, {
      emit: (event) => {
        // The conversation is stored before the client can continue it.
        if (isLast(event)) last = event;
        else stream.send(encodeEvent(event), event);
      },
      restarts,
    });
    const lost = stream.lost();
    void lost.then(() => abandon(ctx, answering, following));
    const isBackground = answering.segment.head.data.background;
    const done = following.done.then(() => remember(ctx, answering, following));
    await (isBackground ? Promise.race([done, lost]) : done);
    if (last) stream.send(encodeEvent(last), last);
    await stream.ready();
  };

const LAST = new Set(['response.completed', 'response.failed', 'response.incomplete']);
const isLast = ({ type }: NumberedEvent): boolean => LAST.has(type);

/**
 * The client disconnected: cancels the turn that its request started or continued, unless it runs in the
 * background.
 */
function abandon(ctx: Context, { accepted, question, segment }: Answering, following: Following): void {
  if (following.isOver || segment.head.data.background) return;
  if (accepted.again || ctx.engine.draining) return void following.abandon();
  void cancelTurn(ctx, question.principal, following).finally(() => following.abandon());
}

/**
 * If this fails, the next request creates a new session with the same history: no reason to fail this request.
 */
async function remember(
  ctx: Context,
  { accepted, question }: Answering,
  following: Following,
): Promise<void> {
  if (accepted.again || following.fault) return;
  await ctx.sessions.remember(accepted, question, following.items).catch((thrown: unknown) => {
    ctx.log.warn({ err: thrown, session: accepted.ref.id }, 'failed to store history digest');
  });
}
