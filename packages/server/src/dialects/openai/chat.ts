/** `POST /chat/completions`. */

import type { Fault, TurnOptions, Usage } from '@parlance/protocol';
import type { ChatCompletion, ChatCompletionChunk, CompletionUsage } from 'openai/resources';
import type { Pieces } from '../../http/connection.ts';
import { type ChatRequest, callerTool, invalid } from '../kit/chat-request.ts';
import type { Answer, Delta, Finish } from '../kit/request-turn.ts';
import {
  type AnswerEvents,
  type AuthenticatedRequest,
  beginAnswer,
  streamedAnswer,
  type VendorContext,
  wholeAnswer,
} from '../kit/vendor-requests.ts';
import { type CompletionRequest, errorBody } from './contract.ts';
import { conversationOf, turnOptions } from './input.ts';

export async function answerChat(
  ctx: VendorContext,
  { request, progress, ...incoming }: AuthenticatedRequest,
  body: CompletionRequest,
): Promise<Response> {
  const chat = chatRequestOf(ctx, incoming, body);
  const answered = await beginAnswer(ctx, chat, progress, body.stream === true);
  const { started, requestTurn, answer, model } = answered;
  const { input, turn, answered: calls } = started.target;
  const head = {
    id: `chatcmpl-${(input ?? [turn, ...calls].join('-')).replace(/[^\w-]/g, '')}`,
    created: Math.floor(ctx.now() / 1000),
    get model() {
      return answer.fallback.name ?? model;
    },
  };
  const finished = requestTurn.done.then(() => ctx.sessions.remember(started, chat, answer.items));
  finished.catch(() => undefined);
  const answering = { requestTurn, answer, finished };
  if (body.stream)
    return streamedAnswer(
      ctx,
      request,
      answering,
      new ChunkEvents(head, body.stream_options?.include_usage === true),
    );
  await wholeAnswer(request, answering);
  return Response.json(completionObject(head, answer));
}

function chatRequestOf(
  { models }: VendorContext,
  { principal, session, key }: Omit<AuthenticatedRequest, 'request' | 'progress'>,
  body: CompletionRequest,
): ChatRequest {
  const { instructions, items, newFrom } = conversationOf(body.messages);
  const { agent, named } = models.choose(body.model);
  const tools = (body.tools ?? []).flatMap((tool) => ('function' in tool ? [tool.function] : []));
  const { tool_choice: choice, response_format: format } = body;
  if (typeof choice === 'object' && choice && !tools.some(({ name }) => name === choice.function.name))
    throw invalid('tool_choice', `There is no tool ${choice.function.name}.`);
  const terms: TurnOptions = {
    ...named,
    ...(tools.length > 0 && {
      tools: tools.map(callerTool),
      agentTools: false,
    }),
    ...(instructions !== undefined && { instructions }),
    options: turnOptions(body, {
      max: body.max_completion_tokens ?? body.max_tokens,
      format: format?.type === 'json_schema' ? { type: format.type, ...format.json_schema } : format,
      effort: body.reasoning_effort,
      toolChoice: typeof choice === 'object' && choice ? { tool: choice.function.name } : choice,
    }),
  };
  return { dialect: 'openai', principal, session, key, items, newFrom, terms, agent };
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
  cachedTokens = 0,
  reasoningTokens = 0,
}: Usage): CompletionUsage => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens },
});

const encoded = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

/** The API has no field for reasoning; clients of other vendors read this one. */
type ChunkDelta = ChatCompletionChunk.Choice.Delta & { readonly reasoning_content?: string };

/** A chunk without the fields that all chunks of an answer share. */
type ChunkFrame =
  | { readonly delta: ChunkDelta; readonly finish?: Finish }
  | { readonly text: string }
  | { readonly usage: Usage }
  | { readonly done: true };

/** Merges pieces of text for a slow reader. */
const pieces: Pieces<ChunkFrame> = {
  key: (frame) => ('text' in frame ? 'text' : null),
  text: (frame) => ('text' in frame ? frame.text : ''),
  with: (frame, text) => ('text' in frame ? { text } : frame),
};

class ChunkEvents implements AnswerEvents<ChunkFrame> {
  readonly dialect = 'openai';
  readonly pieces = pieces;
  #model: string | null = null;
  #before = '';
  #after = '';

  constructor(
    private readonly head: Head,
    private readonly includesUsage: boolean,
  ) {}

  start(): ChunkFrame[] {
    return [{ delta: { role: 'assistant', content: '', refusal: null } }];
  }

  add(delta: Delta): ChunkFrame[] {
    switch (delta.kind) {
      case 'text':
        return [{ text: delta.text }];
      case 'reasoning':
        return [{ delta: { reasoning_content: delta.text } }];
      case 'call': {
        const { index, call: id, tool: name } = delta;
        return [
          { delta: { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] } },
        ];
      }
      case 'arguments': {
        const { index, text } = delta;
        return [{ delta: { tool_calls: [{ index, function: { arguments: text } }] } }];
      }
    }
  }

  end({ finish, usage }: Answer): ChunkFrame[] {
    return [{ delta: {}, finish }, ...(this.includesUsage ? [{ usage }] : []), { done: true }];
  }

  failed(fault: Fault): string {
    return encoded({ error: errorBody(fault).error });
  }

  encode(frame: ChunkFrame): string {
    if ('text' in frame) {
      // A token costs one escape and two concatenations.
      if (this.#model !== this.head.model) this.#enclose();
      return this.#before + JSON.stringify(frame.text) + this.#after;
    }
    if ('delta' in frame) return this.#chunk(frame.delta, frame.finish ?? null);
    if ('done' in frame) return 'data: [DONE]\n\n';
    const chunk: ChatCompletionChunk = { ...this.#head, choices: [], usage: usageObject(frame.usage) };
    return encoded(chunk);
  }

  #enclose(): void {
    this.#model = this.head.model;
    const [before = '', after = ''] = this.#chunk({ content: '' }, null).split('"content":""');
    this.#before = `${before}"content":`;
    this.#after = after;
  }

  get #head() {
    const { id, created, model } = this.head;
    return { id, object: 'chat.completion.chunk' as const, created, model };
  }

  #chunk(delta: ChunkDelta, finish: Finish | null): string {
    const chunk: ChatCompletionChunk = {
      ...this.#head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish && FINISH_REASONS[finish] }],
      ...(this.includesUsage && { usage: null }),
    };
    return encoded(chunk);
  }
}
