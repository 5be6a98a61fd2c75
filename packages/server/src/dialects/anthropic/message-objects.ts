/** The objects of the Messages API. */
import type { Usage } from '@parlance/protocol';
import type { Answer, Finish } from '../shared/exchange/answer.ts';
import { digestOf } from '../shared/exchange/digest.ts';
import { toolUseId } from './call-ids.ts';

export type Head = {
  readonly id: string;
  readonly model: string;
  /** our estimate for the prompt */
  readonly inputTokens: number;
  readonly showsThinking: boolean;
};

export const STOP_REASONS = {
  done: 'end_turn',
  length: 'max_tokens',
  refused: 'refusal',
  calls: 'tool_use',
} as const satisfies Record<Finish, string>;

/**
 * Marks thinking as ours. It is not verified when it is sent back: models receive their own reasoning from the
 * log.
 */
export const signatureOf = (thinking: string): string => `parlance_${digestOf(thinking).slice(0, 32)}`;

/** `inputTokens` of the vendor include cached tokens. */
export const usageObject = ({ inputTokens, outputTokens, cachedTokens = 0 }: Usage) => ({
  input_tokens: inputTokens - cachedTokens,
  output_tokens: outputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cachedTokens,
});

/** The count of the vendor, or our estimate if it has none. */
export const countedUsage = ({ usage }: Answer, { inputTokens }: Head): Usage =>
  usage.inputTokens > 0 ? usage : { ...usage, inputTokens };

const headObject = ({ id, model }: Head) => ({
  id,
  type: 'message' as const,
  role: 'assistant' as const,
  model,
});

export const startedMessage = (head: Head) => ({
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

const contentOf = ({ showsThinking }: Head, { reasoning: thinking, text, calls }: Answer) => [
  ...(showsThinking && thinking !== ''
    ? [{ type: 'thinking' as const, thinking, signature: signatureOf(thinking) }]
    : []),
  // Without `citations: null`, which the AI SDK refuses.
  ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ...calls.map(({ call, tool, input }) => ({
    type: 'tool_use' as const,
    id: toolUseId(call),
    name: tool,
    input,
  })),
];
