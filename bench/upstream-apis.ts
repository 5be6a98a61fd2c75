/** An answer in the formats of both OpenAI APIs: the events before, for, and after the tokens. */
export type ApiName = 'chat' | 'responses';

export type UpstreamApi = {
  begin(id: string): string;
  /** the text before and after a token, constant for an answer, so that tokens need no encoding */
  around(id: string): readonly [string, string];
  end(id: string, whole: string, tokens: number): string;
};

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${value.type}\n${data(value)}`;

const MARK = '(text)';
function cut(encoded: string): readonly [string, string] {
  const at = encoded.indexOf(MARK);
  return [encoded.slice(0, at), encoded.slice(at + MARK.length)];
}

const chunk = (id: string, delta: object, finish: string | null = null) =>
  data({
    id,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'bench',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

const usageOf = (tokens: number) => ({
  prompt_tokens: 10,
  completion_tokens: tokens,
  total_tokens: tokens + 10,
});

/** An answer that is not streamed. */
export const wholeCompletion = (content: string, tokens: number): string =>
  JSON.stringify({
    id: 'whole',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'bench',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: usageOf(tokens),
  });

const chat: UpstreamApi = {
  begin: (id) => chunk(id, { role: 'assistant', content: '' }),
  around: (id) => cut(chunk(id, { content: MARK })),
  end(id, _whole, tokens) {
    const last = {
      id,
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'bench',
      choices: [],
      usage: usageOf(tokens),
    };
    return `${chunk(id, {}, 'stop')}${data(last)}data: [DONE]\n\n`;
  },
};

const message = (id: string, status: string, content: object[]) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  status,
  content,
});
const response = (id: string, status: string, more: object = {}) => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: 1_700_000_000,
  status,
  model: 'bench',
  output: [],
  ...more,
});
const place = (id: string) => ({ item_id: `msg_${id}`, output_index: 0, content_index: 0 });
const part = (text: string) => ({ type: 'output_text', text, annotations: [] });

const responses: UpstreamApi = {
  begin: (id) =>
    event({ type: 'response.created', response: response(id, 'in_progress') }) +
    event({
      type: 'response.output_item.added',
      output_index: 0,
      item: message(id, 'in_progress', []),
    }) +
    event({ type: 'response.content_part.added', ...place(id), part: part('') }),
  around: (id) => cut(event({ type: 'response.output_text.delta', ...place(id), delta: MARK })),
  end(id, whole, tokens) {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: tokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens + 10,
    };
    const item = message(id, 'completed', [part(whole)]);
    return (
      event({ type: 'response.output_text.done', ...place(id), text: whole }) +
      event({ type: 'response.content_part.done', ...place(id), part: part(whole) }) +
      event({ type: 'response.output_item.done', output_index: 0, item }) +
      event({
        type: 'response.completed',
        response: response(id, 'completed', { output: [item], usage }),
      })
    );
  },
};

export const UPSTREAM_APIS: Readonly<Record<ApiName, UpstreamApi>> = { chat, responses };
