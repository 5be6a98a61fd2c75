/** Out: the objects and events of the Messages API, and its errors. */

import type {
  Usage as MessageUsage,
  RawContentBlockDelta,
  RawContentBlockDeltaEvent,
  RawContentBlockStopEvent,
  RawMessageDeltaEvent,
  RawMessageStopEvent,
  TextBlock,
  ThinkingBlock,
  ToolUseBlock,
} from '@anthropic-ai/sdk/resources/messages';
import { type Fault, type FaultCode, parsedJson, type Usage } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Pieces } from '../../http/connection.ts';
import { requestIdOf } from '../../http/request-id.ts';
import { RequestFault } from '../kit/chat-request.ts';
import { HTTP_STATUS, retryText, vendorRefusal } from '../kit/faults.ts';
import { digestOf } from '../kit/request-keys.ts';
import type { Answer, Delta, Finish } from '../kit/request-turn.ts';
import type { AnswerEvents } from '../kit/vendor-requests.ts';
import { toolUseId } from './inbound.ts';

// The objects of the Messages API.

export type Head = {
  readonly id: string;
  readonly model: string;
  /** our estimate for the prompt */
  readonly inputTokens: number;
  readonly showsThinking: boolean;
};

const STOP_REASONS = {
  done: 'end_turn',
  length: 'max_tokens',
  refused: 'refusal',
  calls: 'tool_use',
} as const satisfies Record<Finish, string>;

/**
 * Marks thinking as ours. It is not verified when it is sent back: models receive their own reasoning from the
 * log.
 */
const signatureOf = (thinking: string): string => `parlance_${digestOf(thinking).slice(0, 32)}`;

/** `inputTokens` of the vendor include cached tokens. */
type SentUsage = Pick<
  MessageUsage,
  'input_tokens' | 'output_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens'
>;

const usageObject = ({ inputTokens, outputTokens, cachedTokens = 0 }: Usage): SentUsage => ({
  input_tokens: inputTokens - cachedTokens,
  output_tokens: outputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cachedTokens,
});

/** The count of the vendor, or our estimate if it has none. */
const countedUsage = ({ usage }: Answer, { inputTokens }: Head): Usage =>
  usage.inputTokens > 0 ? usage : { ...usage, inputTokens };

const headObject = ({ id, model }: Head) => ({
  id,
  type: 'message' as const,
  role: 'assistant' as const,
  model,
});

const startedMessage = (head: Head) => ({
  ...headObject(head),
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: usageObject({ inputTokens: head.inputTokens, outputTokens: 0 }),
});

export const messageObject = (head: Head, answer: Answer) => ({
  ...headObject(head),
  content: contentOf(head, answer),
  stop_reason: STOP_REASONS[answer.finish],
  stop_sequence: null,
  usage: usageObject(countedUsage(answer, head)),
});

/** Without what the server has no value for: the AI SDK refuses `citations: null`. */
type ContentBlock = Omit<TextBlock, 'citations'> | ThinkingBlock | Omit<ToolUseBlock, 'caller'>;

const contentOf = (
  { showsThinking }: Head,
  { reasoning: thinking, text, calls }: Answer,
): readonly ContentBlock[] => [
  ...(showsThinking && thinking !== ''
    ? [{ type: 'thinking' as const, thinking, signature: signatureOf(thinking) }]
    : []),
  ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ...calls.map(({ call, tool, input }) => ({
    type: 'tool_use' as const,
    id: toolUseId(call),
    name: tool,
    input,
  })),
];

// The events of a streamed message: blocks that start, grow and stop, made from the deltas to the answer.

type MessageEvent =
  | { readonly type: 'message_start'; readonly message: ReturnType<typeof startedMessage> }
  | {
      readonly type: 'content_block_start';
      readonly index: number;
      readonly content_block: ContentBlock;
    }
  | RawContentBlockDeltaEvent
  | RawContentBlockStopEvent
  | {
      readonly type: 'message_delta';
      readonly delta: Pick<RawMessageDeltaEvent['delta'], 'stop_reason' | 'stop_sequence'>;
      readonly usage: ReturnType<typeof usageObject>;
    }
  | RawMessageStopEvent
  | { readonly type: 'ping' }
  /** a piece of text: the most frequent event */
  | { readonly type: 'text'; readonly index: number; readonly text: string };

const encoded = (event: { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

function encode(event: MessageEvent): string {
  if (!isText(event)) return encoded(event);
  // A token costs one escape and one concatenation.
  const delta = `{"type":"text_delta","text":${JSON.stringify(event.text)}}`;
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${event.index},"delta":${delta}}\n\n`;
}

const isText = (event: MessageEvent): event is Extract<MessageEvent, { type: 'text' }> =>
  event.type === 'text';

/** Merges pieces of text for a slow reader. */
const pieces: Pieces<MessageEvent> = {
  key: (event) => (isText(event) ? `text ${event.index}` : null),
  text: (event) => (isText(event) ? event.text : ''),
  with: (event, text) => (isText(event) ? { ...event, text } : event),
};

type Block = { readonly kind: 'text' | 'reasoning' | 'call'; readonly index: number; text: string };

export class MessageEvents implements AnswerEvents<MessageEvent> {
  readonly dialect = 'anthropic';
  readonly keepAlive = encode({ type: 'ping' });
  readonly encode = encode;
  readonly pieces = pieces;
  #blocks = 0;
  /** the open block of text or thinking */
  #open: Block | null = null;
  /** calls whose arguments may be incomplete, by their index among the calls */
  readonly #calls = new Map<number, Block>();

  /** `request` is the id of the request. */
  constructor(
    private readonly head: Head,
    private readonly request: string,
  ) {}

  start(): MessageEvent[] {
    return [{ type: 'message_start', message: startedMessage(this.head) }, { type: 'ping' }];
  }

  add(delta: Delta): MessageEvent[] {
    switch (delta.kind) {
      case 'text': {
        const [block, events] = this.#continued('text');
        return [...events, { type: 'text', index: block.index, text: delta.text }];
      }
      case 'reasoning': {
        if (!this.head.showsThinking) return [];
        const [block, events] = this.#continued('reasoning');
        block.text += delta.text;
        return [...events, blockDelta(block, { type: 'thinking_delta', thinking: delta.text })];
      }
      case 'call': {
        const events = [...this.#close(), ...this.#closeCalls(isComplete)];
        const block = this.#begin('call');
        this.#calls.set(delta.index, block);
        const id = toolUseId(delta.call);
        return [...events, started(block, { type: 'tool_use', id, name: delta.tool, input: {} })];
      }
      case 'arguments': {
        const block = this.#calls.get(delta.index);
        if (!block) return [];
        block.text += delta.text;
        return [blockDelta(block, { type: 'input_json_delta', partial_json: delta.text })];
      }
    }
  }

  end(answer: Answer): MessageEvent[] {
    const usage = usageObject(countedUsage(answer, this.head));
    const ended = { stop_reason: STOP_REASONS[answer.finish], stop_sequence: null };
    return [
      ...this.#close(),
      ...this.#closeCalls(() => true),
      { type: 'message_delta', delta: ended, usage },
      { type: 'message_stop' },
    ];
  }

  failed(fault: Fault): string {
    return encoded(errorBody(fault, this.request));
  }

  /** The open block of that kind, or a new one with the events that start it. */
  #continued(kind: 'text' | 'reasoning'): [Block, MessageEvent[]] {
    if (this.#open?.kind === kind) return [this.#open, []];
    const closed = this.#close();
    const block = this.#begin(kind);
    this.#open = block;
    const content: ContentBlock =
      kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
    return [block, [...closed, started(block, content)]];
  }

  #begin(kind: Block['kind']): Block {
    return { kind, index: this.#blocks++, text: '' };
  }

  #close(): MessageEvent[] {
    const block = this.#open;
    this.#open = null;
    if (!block) return [];
    const signature = signatureOf(block.text);
    return block.kind === 'reasoning'
      ? [blockDelta(block, { type: 'signature_delta', signature }), stopped(block)]
      : [stopped(block)];
  }

  #closeCalls(closes: (block: Block) => boolean): MessageEvent[] {
    const closing = [...this.#calls].filter(([, block]) => closes(block));
    for (const [index] of closing) this.#calls.delete(index);
    return closing.map(([, block]) => stopped(block));
  }
}

const started = ({ index }: Block, content_block: ContentBlock): MessageEvent => ({
  type: 'content_block_start',
  index,
  content_block,
});
const blockDelta = ({ index }: Block, change: RawContentBlockDelta): MessageEvent => ({
  type: 'content_block_delta',
  index,
  delta: change,
});
const stopped = ({ index }: Block): MessageEvent => ({ type: 'content_block_stop', index });

/** Without any arguments they may still follow. */
const isComplete = ({ text }: Block): boolean => parsedJson(text) !== undefined;

// Faults: `{type: "error", error: {type, message, details?}, request_id}`.

const REQUEST_ID = 'request-id';

type ErrorBody = {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly details?: { readonly error_code: string };
  };
  readonly request_id: string;
};

/** The vendor's status for an overloaded server, which the types of hono do not include. */
const OVERLOADED = 529 as ContentfulStatusCode;

const STATUSES: Record<FaultCode, ContentfulStatusCode> = {
  ...HTTP_STATUS,
  context_too_long: 400,
  tool_invalid: 400,
  // Not 429: clients send the request again after that.
  budget_exhausted: 402,
  overloaded: OVERLOADED,
};

export const statusOf = (fault: Fault): ContentfulStatusCode => vendorRefusal(fault) ?? STATUSES[fault.code];

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const typeOf = (status: number): string =>
  TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');

export function errorBody(fault: Fault, request: string): ErrorBody {
  const code = fault instanceof RequestFault ? fault.apiCode : null;
  return {
    type: 'error',
    error: {
      type: typeOf(statusOf(fault)),
      message: messageOf(fault),
      ...(code?.startsWith('thread_') && { details: { error_code: code } }),
    },
    request_id: request,
  };
}

/** Clients search for this text to shorten the conversation. */
const messageOf = (fault: Fault): string =>
  fault.code === 'context_too_long' && !/prompt is too long/i.test(fault.message)
    ? `prompt is too long: ${fault.message}`
    : retryText(fault);

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string, request: Request): ErrorBody => ({
  type: 'error',
  error: { type: typeOf(status), message },
  request_id: requestIdOf(request),
});

export const headers = (request: Request) => ({ [REQUEST_ID]: requestIdOf(request) });
