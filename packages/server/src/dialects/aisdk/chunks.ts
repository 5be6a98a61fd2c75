/** The chunks of the UI message stream that the server sends. */
import type { Json, JsonObject } from '@parlance/protocol';
import type { UIMessageChunk } from 'ai';
import type { Pieces } from '../../http/connection.ts';

type Official<Type extends UIMessageChunk['type']> = Readonly<Extract<UIMessageChunk, { type: Type }>>;

export type FinishReason = Extract<
  Official<'finish'>['finishReason'],
  'stop' | 'length' | 'content-filter' | 'tool-calls'
>;

/** Tools of the server have both: the page neither runs them nor knows their types. */
export type ServerTool = { readonly providerExecuted?: true; readonly dynamic?: true };

export type Chunk =
  | (Official<'start'> & { readonly messageId: string })
  | Official<'start-step' | 'finish-step' | 'reset-step' | 'abort' | 'error'>
  | Official<
      'text-start' | 'text-delta' | 'text-end' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end'
    >
  | (Official<'finish'> & { readonly finishReason: FinishReason })
  | ToolChunk;

export type ToolChunk =
  | Official<'tool-input-start' | 'tool-input-delta' | 'tool-output-error' | 'tool-output-denied'>
  | (Official<'tool-input-available'> & { readonly input: JsonObject })
  | (Official<'tool-output-available'> & { readonly output: Json })
  | (Official<'tool-approval-request'> & { readonly reason: string })
  /** The call is not part of the official chunk, whose readers find it by the approval. */
  | (Official<'tool-approval-response'> & { readonly toolCallId: string });

export const encode = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;

export const DONE = 'data: [DONE]\n\n';

/** Merges texts and arguments for a slow reader. */
export const pieces: Pieces<Chunk> = {
  key(chunk) {
    if ('delta' in chunk) return `${chunk.type} ${chunk.id}`;
    return chunk.type === 'tool-input-delta' ? `${chunk.type} ${chunk.toolCallId}` : null;
  },
  text(chunk) {
    if ('delta' in chunk) return chunk.delta;
    return chunk.type === 'tool-input-delta' ? chunk.inputTextDelta : '';
  },
  with(chunk, text) {
    if ('delta' in chunk) return { ...chunk, delta: text };
    return chunk.type === 'tool-input-delta' ? { ...chunk, inputTextDelta: text } : chunk;
  },
};
