/** `POST /chat/completions`. */
import { ReasoningEffort, type TurnTerms } from '@parlance/protocol';
import type { EventStream } from '../../http/connection.ts';
import { reported, requestIds } from '../shared/dialect.ts';
import { Answer } from '../shared/exchange/answer.ts';
import { Exchange } from '../shared/exchange/exchange.ts';
import { invalid } from '../shared/exchange/request-fault.ts';
import type { AuthenticatedRequest } from '../shared/exchange/requests.ts';
import type { Question, StartedExchange } from '../shared/exchange/sessions.ts';
import { abandoning, untilOpen } from '../shared/exchange/waiting.ts';
import {
  ChunkEncoder,
  type ChunkFrame,
  completionObject,
  DONE,
  frameOf,
  type Head,
  pieces,
} from './chat-objects.ts';
import type { Context } from './context.ts';
import { errorBody } from './faults.ts';
import { conversationOf } from './messages.ts';
import type { ChatRequest } from './schemas.ts';

export async function answerChat(
  ctx: Context,
  incoming: AuthenticatedRequest,
  body: ChatRequest,
): Promise<Response> {
  const question = questionOf(ctx, incoming, body);
  const isStream = body.stream === true;
  const started = await ctx.sessions.begin(question, incoming.progress);
  const { tools = [] } = question.terms;
  // The turn may have been started by a request with the tools, while this one has only the results.
  const isCallers = (tool: string) =>
    tools.some(({ name }) => name === tool) || (tools.length === 0 && started.target.turn !== null);
  const answer = new Answer(isStream, isCallers);
  const exchange = new Exchange(ctx, question, { started, answer });
  const head = await headOf(ctx, question, started);
  if (!isStream) return whole(ctx, incoming.request, { question, exchange, answer, head, started });
  await untilOpen(exchange, answer);
  const includesUsage = body.stream_options?.include_usage === true;
  return streamed(ctx, incoming.request, { question, exchange, answer, head, started, includesUsage });
}

type AnswerOptions = {
  readonly question: Question;
  readonly exchange: Exchange;
  readonly answer: Answer;
  readonly head: Head;
  readonly started: StartedExchange;
};

async function whole(ctx: Context, request: Request, answering: AnswerOptions): Promise<Response> {
  const { question, exchange, answer, head, started } = answering;
  await abandoning(request, exchange, exchange.done);
  await remember(ctx, question, { started, answer });
  return Response.json(completionObject(head, answer));
}

function streamed(
  ctx: Context,
  request: Request,
  answering: AnswerOptions & { readonly includesUsage: boolean },
): Response {
  const encoder = new ChunkEncoder(answering.head, answering.includesUsage);
  return ctx.stream(request, {
    dialect: 'openai',
    encode: (frame) => encoder.encode(frame as ChunkFrame),
    produce: producer(ctx, { ...answering, encoder, ids: requestIds(request) }),
  });
}

type StreamOptions = AnswerOptions & {
  readonly includesUsage: boolean;
  readonly encoder: ChunkEncoder;
  readonly ids: ReturnType<typeof requestIds>;
};

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, { question, exchange, answer, started, encoder, includesUsage, ids }: StreamOptions) =>
  async (stream: EventStream): Promise<void> => {
    const send = (frame: ChunkFrame) => stream.send(encoder.encode(frame), frame, pieces as never);
    send({ delta: { role: 'assistant', content: '', refusal: null } });
    exchange.show((addition) => void send(frameOf(addition)));
    stream.onClosing((fault) => exchange.fail(fault));
    void stream.lost().then(() => exchange.abandon());
    try {
      await exchange.done;
      await remember(ctx, question, { started, answer });
    } catch (thrown) {
      const { error } = errorBody(reported(thrown, ctx, ids));
      stream.send(`data: ${JSON.stringify({ error })}\n\n`);
      return stream.ready();
    }
    send({ delta: {}, finish: answer.finish });
    if (includesUsage) send({ usage: answer.usage });
    stream.send(DONE);
    await stream.ready();
  };

/**
 * If this fails, the next request creates a new session with the same history: no reason to fail this request.
 */
async function remember(
  { sessions, log }: Context,
  question: Question,
  { started, answer }: Pick<AnswerOptions, 'started' | 'answer'>,
): Promise<void> {
  if (started.again) return;
  await sessions.remember(started, question, answer.items).catch((thrown: unknown) => {
    log.warn({ err: thrown, session: started.ref.id }, 'failed to store history digest');
  });
}

async function headOf(
  { engine, models, now }: Context,
  question: Question,
  started: StartedExchange,
): Promise<Head> {
  const { agent, model } = await engine.snapshot(started.ref);
  const { input, turn, answered } = started.target;
  const about = input ?? [turn, ...answered].join('-');
  return {
    id: `chatcmpl-${about.replace(/[^\w-]/g, '')}`,
    created: Math.floor(now() / 1000),
    model: models.answering(question.agent ?? agent.id, model),
  };
}

function questionOf({ models }: Context, incoming: AuthenticatedRequest, body: ChatRequest): Question {
  const { instructions, items, newFrom } = conversationOf(body.messages);
  const { agent } = models.choose(body.model);
  const tools = (body.tools ?? []).flatMap((tool) => ('function' in tool ? [tool.function] : []));
  const choice = body.tool_choice;
  if (typeof choice === 'object' && choice && !tools.some(({ name }) => name === choice.function.name))
    throw invalid('tool_choice', `There is no tool ${choice.function.name}.`);
  const terms: TurnTerms = {
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description: description ?? '',
        parameters: parameters ?? {},
      })),
      agentTools: false,
    }),
    ...(instructions !== undefined && { instructions }),
    options: optionsOf(body),
  };
  const { principal, session, key } = incoming;
  return { dialect: 'openai', principal, session, key, items, newFrom, terms, agent };
}

function optionsOf(body: ChatRequest): TurnTerms['options'] {
  const { stop, response_format: format, tool_choice: choice } = body;
  const effort = ReasoningEffort.safeParse(body.reasoning_effort).data;
  const max = body.max_completion_tokens ?? body.max_tokens;
  return {
    ...(body.temperature != null && { temperature: body.temperature }),
    ...(body.top_p != null && { topP: body.top_p }),
    ...(max != null && { maxOutputTokens: max }),
    ...(stop != null && { stop: typeof stop === 'string' ? [stop] : stop }),
    ...(format && { responseFormat: formatOf(format) }),
    ...(effort && { reasoningEffort: effort }),
    ...(choice && { toolChoice: typeof choice === 'string' ? choice : { tool: choice.function.name } }),
    ...(body.parallel_tool_calls != null && { parallelToolCalls: body.parallel_tool_calls }),
  };
}

function formatOf(
  format: NonNullable<ChatRequest['response_format']>,
): NonNullable<NonNullable<TurnTerms['options']>['responseFormat']> {
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json_object') return { type: 'json' };
  const { name, schema, strict } = format.json_schema;
  return { type: 'json_schema', name, schema, ...(strict != null && { strict }) };
}
