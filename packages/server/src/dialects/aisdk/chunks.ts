/** The chunks of the UI message stream that the server sends. */
import type { Json, JsonObject } from '@parlance/protocol';
import type { Pieces } from '../../http/connection.ts';

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls';

/** Tools of the server have both: the page neither runs them nor knows their types. */
export type ServerTool = { readonly providerExecuted?: true; readonly dynamic?: true };

export type Chunk =
  | { readonly type: 'start'; readonly messageId: string }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' | 'abort' }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | ToolChunk
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'finish'; readonly finishReason: FinishReason };

export type ToolChunk = { readonly toolCallId: string } & (
  | ({ readonly type: 'tool-input-start'; readonly toolName: string } & ServerTool)
  | { readonly type: 'tool-input-delta'; readonly inputTextDelta: string }
  | ({
      readonly type: 'tool-input-available';
      readonly toolName: string;
      readonly input: JsonObject;
    } & ServerTool)
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly reason: string }
  | {
      readonly type: 'tool-approval-response';
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | ({ readonly type: 'tool-output-available'; readonly output: Json } & ServerTool)
  | ({ readonly type: 'tool-output-error'; readonly errorText: string } & ServerTool)
  | { readonly type: 'tool-output-denied' }
);

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
