/** `POST /messages`. */

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
import type { Usage } from '@parlance/protocol';
import type { EventStream, Pieces } from '../../http/connection.ts';
import { requestIdOf } from '../../http/request-id.ts';
import { reported } from '../kit/dialect.ts';
import { digestOf } from '../kit/digest.ts';
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
import { chatRequestOf, setupOf, showsThinking, termsOf, toolUseId } from './request.ts';

import type { MessageRequest } from './schemas.ts';
import { storedSetup } from './threads.ts';

// The objects of the Messages API.

type Head = {
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

const messageObject = (head: Head, answer: Answer) => ({
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

export async function answerMessage(
  ctx: Context,
  incoming: AuthenticatedRequest,
  body: MessageRequest,
): Promise<Response> {
  const { request } = incoming;
  const answering = await begin(ctx, incoming, body);
  const { requestTurn, answer, head, finished } = answering;
  if (!body.stream) {
    await abandoning(request, requestTurn, finished);
    return Response.json(messageObject(head, answer));
  }
  await untilOpen(requestTurn, answer);
  return ctx.stream(request, {
    dialect: 'anthropic',
    keepAlive: PING,
    encode: (event) => encode(event as MessageEvent),
    produce: producer(ctx, answering, requestIdOf(request)),
  });
}

type Answering = {
  readonly requestTurn: RequestTurn;
  readonly answer: Answer;
  readonly head: Head;
  /** resolves when the answer is complete and the next request can continue it */
  readonly finished: Promise<void>;
};

async function begin(ctx: Context, incoming: AuthenticatedRequest, body: MessageRequest): Promise<Answering> {
  const { chat, release } = await threaded(ctx, chatRequestOf(ctx, incoming, body), body);
  try {
    const started = await ctx.sessions.begin(chat, incoming.progress);
    const answer = new Answer(body.stream === true, callersTools(chat, started));
    const requestTurn = new RequestTurn(ctx, chat, { started, answer });
    const head = await headOf(ctx, chat, { started, body });
    const finished = finish(ctx, chat, { started, body, requestTurn, answer, head }).finally(release);
    finished.catch(() => undefined);
    return { requestTurn, answer, head, finished };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

type ThreadRequest = { readonly chat: ChatRequest; readonly release: () => void };

/** Places the chat in the thread that the request creates or continues. */
async function threaded(ctx: Context, chat: ChatRequest, body: MessageRequest): Promise<ThreadRequest> {
  const { thread } = body;
  const given = setupOf(body);
  if (thread?.type !== 'continue')
    return {
      chat: thread ? { ...chat, data: storedSetup(given) } : chat,
      release: () => undefined,
    };
  const { record, setup, release } = await ctx.threads.claim(chat, thread.previous_message_id, given);
  const terms = { ...chat.terms, ...termsOf(setup) };
  return { chat: { ...chat, session: record.ref.id, terms }, release };
}

/** The turn may have been started by a request with the tools, while this one has only the results. */
function callersTools({ terms: { tools = [] } }: ChatRequest, { target: followed }: StartedTurn) {
  return (tool: string): boolean =>
    tools.some(({ name }) => name === tool) || (tools.length === 0 && followed.turn !== null);
}

async function headOf(
  { engine, models }: Context,
  chat: ChatRequest,
  { started, body }: { readonly started: StartedTurn; readonly body: MessageRequest },
): Promise<Head> {
  const { agent, model } = await engine.snapshot(started.ref);
  const { tokens } = await engine.contextUse(started.ref);
  return {
    id: `msg_${started.start.id.replace(/[^\w-]/g, '')}`,
    model: models.answering(chat.agent ?? agent.id, model),
    inputTokens: Math.max(1, Math.ceil(tokens)),
    showsThinking: showsThinking(body),
  };
}

type Finishing = Omit<Answering, 'finished'> & {
  readonly started: StartedTurn;
  readonly body: MessageRequest;
};

async function finish(ctx: Context, chat: ChatRequest, finishing: Finishing): Promise<void> {
  const { started, body, requestTurn, answer, head } = finishing;
  await requestTurn.done;
  if (started.again) return;
  const { thread } = body;
  if (thread) await ctx.threads.keep(started, chat, { id: head.id, created: thread.type === 'create' });
  // If this fails, the next request creates a new session with the same history: no reason to fail this
  // request.
  await ctx.sessions.remember(started, chat, answer.items).catch((thrown: unknown) => {
    ctx.log.warn({ err: thrown, session: started.ref.id }, 'failed to store history digest');
  });
}

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, { requestTurn, answer, head, finished }: Answering, request: string) =>
  async (stream: EventStream): Promise<void> => {
    const events = new MessageEvents(head);
    let isComplete = true;
    const send = (event: MessageEvent) => {
      isComplete &&= stream.send(encode(event), event, pieces as never);
    };
    send(events.start());
    stream.send(PING);
    requestTurn.show((delta) => events.add(delta).forEach(send));
    stream.onClosing((fault) => requestTurn.fail(fault));
    void stream.lost().then((dropped) => (dropped ? requestTurn.fail(TOO_SLOW) : requestTurn.abandon()));
    try {
      await finished;
      if (!isComplete) throw TOO_SLOW;
      events.end(answer).forEach(send);
    } catch (thrown) {
      const body = errorBody(reported(thrown, ctx, { request }), request);
      stream.send(`event: error\ndata: ${JSON.stringify(body)}\n\n`);
      if (thrown === TOO_SLOW) return;
    }
    await stream.ready();
  };

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

const PING = encoded({ type: 'ping' });

type Block = { readonly kind: 'text' | 'reasoning' | 'call'; readonly index: number; text: string };

class MessageEvents {
  #blocks = 0;
  /** the open block of text or thinking */
  #open: Block | null = null;
  /** calls whose arguments may be incomplete, by their index among the calls */
  readonly #calls = new Map<number, Block>();

  constructor(private readonly head: Head) {}

  start(): MessageEvent {
    return { type: 'message_start', message: startedMessage(this.head) };
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
function isComplete({ text }: Block): boolean {
  try {
    return text !== '' && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}
