/** `POST /messages`. */
import type { EventStream } from '../../http/connection.ts';
import { requestIdOf } from '../../http/request-id.ts';
import { reported } from '../shared/dialect.ts';
import { Answer } from '../shared/exchange/answer.ts';
import { Exchange } from '../shared/exchange/exchange.ts';
import type { AuthenticatedRequest } from '../shared/exchange/requests.ts';
import type { Question, StartedExchange } from '../shared/exchange/sessions.ts';
import { abandoning, untilOpen } from '../shared/exchange/waiting.ts';
import type { Context } from './context.ts';
import { errorBody } from './faults.ts';
import { encode, type MessageEvent, MessageEvents, PING, pieces } from './message-events.ts';
import { type Head, messageObject } from './message-objects.ts';
import { questionOf, setupOf, showsThinking, termsOf } from './question.ts';
import type { MessageRequest } from './schemas.ts';
import { storedSetup } from './threads.ts';

export async function answerMessage(
  ctx: Context,
  incoming: AuthenticatedRequest,
  body: MessageRequest,
): Promise<Response> {
  const { request } = incoming;
  const answering = await begin(ctx, incoming, body);
  const { exchange, answer, head, finished } = answering;
  if (!body.stream) {
    await abandoning(request, exchange, finished);
    return Response.json(messageObject(head, answer));
  }
  await untilOpen(exchange, answer);
  return ctx.stream(request, {
    dialect: 'anthropic',
    keepAlive: PING,
    encode: (event) => encode(event as MessageEvent),
    produce: producer(ctx, answering, requestIdOf(request)),
  });
}

type Answering = {
  readonly exchange: Exchange;
  readonly answer: Answer;
  readonly head: Head;
  /** resolves when the answer is complete and the next request can continue it */
  readonly finished: Promise<void>;
};

async function begin(ctx: Context, incoming: AuthenticatedRequest, body: MessageRequest): Promise<Answering> {
  const { question, release } = await threaded(ctx, questionOf(ctx, incoming, body), body);
  try {
    const started = await ctx.sessions.begin(question, incoming.progress);
    const answer = new Answer(body.stream === true, callersTools(question, started));
    const exchange = new Exchange(ctx, question, { started, answer });
    const head = await headOf(ctx, question, { started, body });
    const finished = finish(ctx, question, { started, body, exchange, answer, head }).finally(release);
    finished.catch(() => undefined);
    return { exchange, answer, head, finished };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

type ThreadQuestion = { readonly question: Question; readonly release: () => void };

/** Places the question in the thread that the request creates or continues. */
async function threaded(ctx: Context, question: Question, body: MessageRequest): Promise<ThreadQuestion> {
  const { thread } = body;
  const given = setupOf(body);
  if (thread?.type !== 'continue')
    return {
      question: thread ? { ...question, data: storedSetup(given) } : question,
      release: () => undefined,
    };
  const { record, setup, release } = await ctx.threads.claim(question, thread.previous_message_id, given);
  const terms = { ...question.terms, ...termsOf(setup) };
  return { question: { ...question, session: record.ref.id, terms }, release };
}

/** The turn may have been started by a request with the tools, while this one has only the results. */
function callersTools({ terms: { tools = [] } }: Question, { target: followed }: StartedExchange) {
  return (tool: string): boolean =>
    tools.some(({ name }) => name === tool) || (tools.length === 0 && followed.turn !== null);
}

async function headOf(
  { engine, models }: Context,
  question: Question,
  { started, body }: { readonly started: StartedExchange; readonly body: MessageRequest },
): Promise<Head> {
  const { agent, model } = await engine.snapshot(started.ref);
  const { tokens } = await engine.contextUse(started.ref);
  return {
    id: `msg_${started.start.id.replace(/[^\w-]/g, '')}`,
    model: models.answering(question.agent ?? agent.id, model),
    inputTokens: Math.max(1, Math.ceil(tokens)),
    showsThinking: showsThinking(body),
  };
}

type Finishing = Omit<Answering, 'finished'> & {
  readonly started: StartedExchange;
  readonly body: MessageRequest;
};

async function finish(ctx: Context, question: Question, finishing: Finishing): Promise<void> {
  const { started, body, exchange, answer, head } = finishing;
  await exchange.done;
  if (started.again) return;
  const { thread } = body;
  if (thread) await ctx.threads.keep(started, question, { id: head.id, created: thread.type === 'create' });
  // If this fails, the next request creates a new session with the same history: no reason to fail this
  // request.
  await ctx.sessions.remember(started, question, answer.items).catch((thrown: unknown) => {
    ctx.log.warn({ err: thrown, session: started.ref.id }, 'failed to store history digest');
  });
}

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, { exchange, answer, head, finished }: Answering, request: string) =>
  async (stream: EventStream): Promise<void> => {
    const events = new MessageEvents(head);
    const send = (event: MessageEvent) => stream.send(encode(event), event, pieces as never);
    send(events.start());
    stream.send(PING);
    exchange.show((addition) => events.add(addition).forEach(send));
    stream.onClosing((fault) => exchange.fail(fault));
    void stream.lost().then(() => exchange.abandon());
    try {
      await finished;
      events.end(answer).forEach(send);
    } catch (thrown) {
      const body = errorBody(reported(thrown, ctx, { request }), request);
      stream.send(`event: error\ndata: ${JSON.stringify(body)}\n\n`);
    }
    await stream.ready();
  };
