/** `POST /chat/completions`. */

import { ReasoningEffort, type TurnOptions, type Usage } from '@parlance/protocol';
import type { ChatCompletion, ChatCompletionChunk, CompletionUsage } from 'openai/resources';
import type { EventStream, Pieces } from '../../http/connection.ts';
import { reported, requestIds } from '../kit/dialect.ts';
import { invalid } from '../kit/request-fault.ts';
import type { ChatRequest, StartedTurn } from '../kit/request-sessions.ts';
import {
  Answer,
  abandoning,
  type Delta,
  type Finish,
  RequestTurn,
  TOO_SLOW,
  untilOpen,
} from '../kit/request-turn.ts';
import type { AuthenticatedRequest } from '../kit/vendor-requests.ts';

import type { Context } from './context.ts';
import { errorBody } from './faults.ts';
import { conversationOf } from './messages.ts';
import type { CompletionRequest } from './schemas.ts';

export async function answerChat(
  ctx: Context,
  incoming: AuthenticatedRequest,
  body: CompletionRequest,
): Promise<Response> {
  const chat = chatRequestOf(ctx, incoming, body);
  const isStream = body.stream === true;
  const started = await ctx.sessions.begin(chat, incoming.progress);
  const { tools = [] } = chat.terms;
  // The turn may have been started by a request with the tools, while this one has only the results.
  const isCallers = (tool: string) =>
    tools.some(({ name }) => name === tool) || (tools.length === 0 && started.target.turn !== null);
  const answer = new Answer(isStream, isCallers);
  const requestTurn = new RequestTurn(ctx, chat, { started, answer });
  const head = await headOf(ctx, chat, started);
  if (!isStream) return whole(ctx, incoming.request, { chat, requestTurn, answer, head, started });
  await untilOpen(requestTurn, answer);
  const includesUsage = body.stream_options?.include_usage === true;
  return streamed(ctx, incoming.request, { chat, requestTurn, answer, head, started, includesUsage });
}

type AnswerOptions = {
  readonly chat: ChatRequest;
  readonly requestTurn: RequestTurn;
  readonly answer: Answer;
  readonly head: Head;
  readonly started: StartedTurn;
};

async function whole(ctx: Context, request: Request, answering: AnswerOptions): Promise<Response> {
  const { chat, requestTurn, answer, head, started } = answering;
  await abandoning(request, requestTurn, requestTurn.done);
  await remember(ctx, chat, { started, answer });
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
  (ctx: Context, { chat, requestTurn, answer, started, encoder, includesUsage, ids }: StreamOptions) =>
  async (stream: EventStream): Promise<void> => {
    let isComplete = true;
    const send = (frame: ChunkFrame) => {
      isComplete &&= stream.send(encoder.encode(frame), frame, pieces as never);
    };
    send({ delta: { role: 'assistant', content: '', refusal: null } });
    requestTurn.show((delta) => send(frameOf(delta)));
    stream.onClosing((fault) => requestTurn.fail(fault));
    void stream.lost().then((dropped) => (dropped ? requestTurn.fail(TOO_SLOW) : requestTurn.abandon()));
    try {
      await requestTurn.done;
      await remember(ctx, chat, { started, answer });
      if (!isComplete) throw TOO_SLOW;
    } catch (thrown) {
      const { error } = errorBody(reported(thrown, ctx, ids));
      stream.send(`data: ${JSON.stringify({ error })}\n\n`);
      return thrown === TOO_SLOW ? undefined : stream.ready();
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
  chat: ChatRequest,
  { started, answer }: Pick<AnswerOptions, 'started' | 'answer'>,
): Promise<void> {
  if (started.again) return;
  await sessions.remember(started, chat, answer.items).catch((thrown: unknown) => {
    log.warn({ err: thrown, session: started.ref.id }, 'failed to store history digest');
  });
}

async function headOf(
  { engine, models, now }: Context,
  chat: ChatRequest,
  started: StartedTurn,
): Promise<Head> {
  const { agent, model } = await engine.snapshot(started.ref);
  const { input, turn, answered } = started.target;
  const about = input ?? [turn, ...answered].join('-');
  return {
    id: `chatcmpl-${about.replace(/[^\w-]/g, '')}`,
    created: Math.floor(now() / 1000),
    model: models.answering(chat.agent ?? agent.id, model),
  };
}

function chatRequestOf(
  { models }: Context,
  incoming: AuthenticatedRequest,
  body: CompletionRequest,
): ChatRequest {
  const { instructions, items, newFrom } = conversationOf(body.messages);
  const { agent } = models.choose(body.model);
  const tools = (body.tools ?? []).flatMap((tool) => ('function' in tool ? [tool.function] : []));
  const choice = body.tool_choice;
  if (typeof choice === 'object' && choice && !tools.some(({ name }) => name === choice.function.name))
    throw invalid('tool_choice', `There is no tool ${choice.function.name}.`);
  const terms: TurnOptions = {
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

function optionsOf(body: CompletionRequest): TurnOptions['options'] {
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
  format: NonNullable<CompletionRequest['response_format']>,
): NonNullable<NonNullable<TurnOptions['options']>['responseFormat']> {
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json_object') return { type: 'json' };
  const { name, schema, strict } = format.json_schema;
  return { type: 'json_schema', name, schema, ...(strict != null && { strict }) };
}

// The objects of Chat Completions.

type Head = { readonly id: string; readonly created: number; readonly model: string };

const FINISH_REASONS = {
  done: 'stop',
  length: 'length',
  refused: 'content_filter',
  calls: 'tool_calls',
} as const satisfies Record<Finish, string>;

const completionObject = ({ id, created, model }: Head, answer: Answer): ChatCompletion => ({
  id,
  object: 'chat.completion',
  created,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: answer.text === '' && answer.calls.length > 0 ? null : answer.text,
        refusal: null,
        ...(answer.calls.length > 0 && {
          tool_calls: answer.calls.map(({ call, tool, input }) => ({
            id: call,
            type: 'function',
            function: { name: tool, arguments: JSON.stringify(input) },
          })),
        }),
      },
      finish_reason: FINISH_REASONS[answer.finish],
      logprobs: null,
    },
  ],
  usage: usageObject(answer.usage),
});

const usageObject = ({
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens,
}: Required<Usage>): CompletionUsage => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens },
});

const encoded = (value: ChatCompletionChunk): string => `data: ${JSON.stringify(value)}\n\n`;

/** The API has no field for reasoning; clients of other vendors read this one. */
type ChunkDelta = ChatCompletionChunk.Choice.Delta & { readonly reasoning_content?: string };

/** A chunk without the fields that all chunks of an answer share. */
type ChunkFrame =
  | { readonly delta: ChunkDelta; readonly finish?: Finish }
  | { readonly text: string }
  | { readonly usage: Required<Usage> };

/** Encodes the chunks of one answer. */
class ChunkEncoder {
  readonly #before: string;
  readonly #after: string;

  constructor(
    private readonly head: Head,
    private readonly includesUsage: boolean,
  ) {
    // A token costs one escape and two concatenations.
    const [before = '', after = ''] = this.#chunk({ content: '' }, null).split('"content":""');
    this.#before = `${before}"content":`;
    this.#after = after;
  }

  encode(frame: ChunkFrame): string {
    if ('text' in frame) return this.#before + JSON.stringify(frame.text) + this.#after;
    if ('delta' in frame) return this.#chunk(frame.delta, frame.finish ?? null);
    return encoded({ ...this.#head, choices: [], usage: usageObject(frame.usage) });
  }

  get #head() {
    const { id, created, model } = this.head;
    return { id, object: 'chat.completion.chunk' as const, created, model };
  }

  #chunk(delta: ChunkDelta, finish: Finish | null): string {
    return encoded({
      ...this.#head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish && FINISH_REASONS[finish] }],
      ...(this.includesUsage && { usage: null }),
    });
  }
}

/** Merges pieces of text for a slow reader. */
const pieces: Pieces<ChunkFrame> = {
  key: (frame) => ('text' in frame ? 'text' : null),
  text: (frame) => ('text' in frame ? frame.text : ''),
  with: (frame, text) => ('text' in frame ? { text } : frame),
};

const DONE = 'data: [DONE]\n\n';

function frameOf(delta: Delta): ChunkFrame {
  switch (delta.kind) {
    case 'text':
      return { text: delta.text };
    case 'reasoning':
      return { delta: { reasoning_content: delta.text } };
    case 'call': {
      const { index, call, tool } = delta;
      const begins = { index, id: call, type: 'function' as const, function: { name: tool, arguments: '' } };
      return { delta: { tool_calls: [begins] } };
    }
    case 'arguments': {
      const { index, text } = delta;
      return { delta: { tool_calls: [{ index, function: { arguments: text } }] } };
    }
  }
}
