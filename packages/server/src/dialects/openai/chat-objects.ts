/** The objects of Chat Completions. */
import type { Usage } from '@parlance/protocol';
import type { Pieces } from '../../http/connection.ts';
import type { Addition, Answer, Finish } from '../shared/exchange/answer.ts';

export type Head = { readonly id: string; readonly created: number; readonly model: string };

const FINISH_REASONS = {
  done: 'stop',
  length: 'length',
  refused: 'content_filter',
  calls: 'tool_calls',
} as const satisfies Record<Finish, string>;

export const completionObject = ({ id, created, model }: Head, answer: Answer) => ({
  id,
  object: 'chat.completion' as const,
  created,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant' as const,
        content: answer.text === '' && answer.calls.length > 0 ? null : answer.text,
        refusal: null,
        ...(answer.calls.length > 0 && {
          tool_calls: answer.calls.map(({ call, tool, input }) => ({
            id: call,
            type: 'function' as const,
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

export const usageObject = ({
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens,
}: Required<Usage>) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens },
});

const encoded = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

/** A chunk without the fields that all chunks of an answer share. */
export type ChunkFrame =
  | { readonly delta: object; readonly finish?: Finish }
  | { readonly text: string }
  | { readonly usage: Required<Usage> };

/** Encodes the chunks of one answer. */
export class ChunkEncoder {
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
    return { id, object: 'chat.completion.chunk', created, model };
  }

  #chunk(delta: object, finish: Finish | null): string {
    return encoded({
      ...this.#head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish && FINISH_REASONS[finish] }],
      ...(this.includesUsage && { usage: null }),
    });
  }
}

/** Merges pieces of text for a slow reader. */
export const pieces: Pieces<ChunkFrame> = {
  key: (frame) => ('text' in frame ? 'text' : null),
  text: (frame) => ('text' in frame ? frame.text : ''),
  with: (frame, text) => ('text' in frame ? { text } : frame),
};

export const DONE = 'data: [DONE]\n\n';

export function frameOf(addition: Addition): ChunkFrame {
  switch (addition.kind) {
    case 'text':
      return { text: addition.text };
    case 'reasoning':
      return { delta: { reasoning_content: addition.text } };
    case 'call': {
      const { index, call, tool } = addition;
      const begins = { index, id: call, type: 'function', function: { name: tool, arguments: '' } };
      return { delta: { tool_calls: [begins] } };
    }
    case 'arguments': {
      const { index, text } = addition;
      return { delta: { tool_calls: [{ index, function: { arguments: text } }] } };
    }
  }
}
