/** Models that do not stop, for each model API: endless text, reasoning, arguments or calls. */

export const ENDLESS_APIS = ['chat', 'responses', 'anthropic', 'google'] as const;
export type EndlessApi = (typeof ENDLESS_APIS)[number];
export const ENDLESS_KINDS = ['text', 'reasoning', 'arguments', 'calls'] as const;
export type EndlessKind = (typeof ENDLESS_KINDS)[number];

export type EndlessModel = {
  /** settings of a server that uses it */
  readonly settings: Record<string, string>;
  /** number of requests */
  readonly asked: () => number;
  /** resolves when the server has closed the connection of an answer */
  readonly closed: Promise<void>;
  stop(): void;
};

const WORDS = 'and so on '.repeat(10);

type Pieces = Record<
  EndlessKind,
  { readonly first: readonly object[]; readonly more: (at: number) => object }
>;

const chatDelta = (delta: object): object => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: null }],
});
const chatCall = (index: number, id: string, written: string): object =>
  chatDelta({ tool_calls: [{ index, id, function: { name: 'echo', arguments: written } }] });
const anthropicBlock = (index: number, content_block: object): object => ({
  type: 'content_block_start',
  index,
  content_block,
});
const anthropicDelta = (delta: object): object => ({ type: 'content_block_delta', index: 0, delta });
const anthropicCall = (index: number): object =>
  anthropicBlock(index, { type: 'tool_use', id: `call_${index}`, name: 'echo', input: {} });
const MESSAGE_START = { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } };
const googlePart = (part: object): object => ({ candidates: [{ content: { parts: [part] } }] });

const APIS: Record<EndlessApi, Pieces> = {
  chat: {
    text: { first: [], more: () => chatDelta({ content: WORDS }) },
    reasoning: { first: [], more: () => chatDelta({ reasoning_content: WORDS }) },
    arguments: { first: [chatCall(0, 'call_0', '{"a":"')], more: () => chatCall(0, '', WORDS) },
    calls: { first: [], more: (at) => chatCall(at, `call_${at}`, '{}') },
  },
  responses: {
    text: { first: [], more: () => ({ type: 'response.output_text.delta', delta: WORDS }) },
    reasoning: { first: [], more: () => ({ type: 'response.reasoning_summary_text.delta', delta: WORDS }) },
    arguments: { first: [], more: () => ({ type: 'response.function_call_arguments.delta', delta: WORDS }) },
    calls: {
      first: [],
      more: (at) => ({
        type: 'response.output_item.done',
        item: { type: 'function_call', call_id: `call_${at}`, name: 'echo', arguments: '{}' },
      }),
    },
  },
  anthropic: {
    text: {
      first: [MESSAGE_START, anthropicBlock(0, { type: 'text', text: '' })],
      more: () => anthropicDelta({ type: 'text_delta', text: WORDS }),
    },
    reasoning: {
      first: [MESSAGE_START, anthropicBlock(0, { type: 'thinking', thinking: '' })],
      more: () => anthropicDelta({ type: 'thinking_delta', thinking: WORDS }),
    },
    arguments: {
      first: [MESSAGE_START, anthropicCall(0)],
      more: () => anthropicDelta({ type: 'input_json_delta', partial_json: WORDS }),
    },
    calls: { first: [MESSAGE_START], more: (at) => anthropicCall(at) },
  },
  google: {
    text: { first: [], more: () => googlePart({ text: WORDS }) },
    reasoning: { first: [], more: () => googlePart({ text: WORDS, thought: true }) },
    arguments: {
      first: [],
      more: () => googlePart({ functionCall: { name: 'echo', args: { a: WORDS.repeat(100) } } }),
    },
    calls: { first: [], more: () => googlePart({ functionCall: { name: 'echo', args: {} } }) },
  },
};

const SETTINGS: Record<EndlessApi, (url: string) => Record<string, string>> = {
  chat: (url) => ({ OPENAI_BASE_URL: url, OPENAI_API_KEY: 'key', OPENAI_API: 'chat', MODEL: 'endless' }),
  responses: (url) => ({
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: 'key',
    OPENAI_API: 'responses',
    MODEL: 'endless',
  }),
  anthropic: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'key', MODEL: 'claude-endless' }),
  google: (url) => ({ GOOGLE_BASE_URL: url, GOOGLE_API_KEY: 'key', MODEL: 'gemini-endless' }),
};

/** `patient`: later answers are short and end; Chat Completions only. */
export function endlessModel(api: EndlessApi, kind: EndlessKind, patient = false): EndlessModel {
  const closed = Promise.withResolvers<void>();
  let asked = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      await request.text();
      asked++;
      request.signal.addEventListener('abort', () => closed.resolve());
      const answer = patient && asked > 1 ? shortAnswer() : endless(APIS[api][kind], request.signal);
      return new Response(
        async function* () {
          yield* answer;
        },
        { headers: { 'content-type': 'text/event-stream' } },
      );
    },
  });
  return {
    settings: SETTINGS[api](`http://127.0.0.1:${server.port}`),
    asked: () => asked,
    closed: closed.promise,
    stop: () => void server.stop(true),
  };
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

async function* endless({ first, more }: Pieces[EndlessKind], signal: AbortSignal): AsyncGenerator<string> {
  yield first.map(event).join('');
  for (let at = 0; !signal.aborted; at += 20) {
    yield Array.from({ length: 20 }, (_, offset) => event(more(at + offset))).join('');
    // Yields to other work of the process.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* shortAnswer(): AsyncGenerator<string> {
  yield event(chatDelta({ content: 'Hello.' }));
  yield event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  yield 'data: [DONE]\n\n';
}
