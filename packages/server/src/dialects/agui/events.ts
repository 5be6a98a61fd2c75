/** The protocol events that the server sends. Optional fields are left out, never null. */
import type { AGUIEvent, EventType } from '@ag-ui/core';

/** A part of a message with more than text. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image' | 'document';
      readonly source:
        | { readonly type: 'data'; readonly value: string; readonly mimeType: string }
        | { readonly type: 'url'; readonly value: string; readonly mimeType?: string };
    };

export type Content = string | readonly ContentPart[];

export type ToolCall = {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
};

export type Message =
  | { readonly id: string; readonly role: 'user'; readonly content: Content }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  | { readonly id: string; readonly role: 'tool'; readonly toolCallId: string; readonly content: string }
  | { readonly id: string; readonly role: 'reasoning' | 'system' | 'developer'; readonly content: string };

export type Interrupt = {
  readonly id: string;
  readonly reason: 'tool_call';
  readonly message: string;
  readonly toolCallId: string;
  readonly responseSchema: object;
};

export type Outcome =
  | { readonly type: 'success'; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly Interrupt[] };

export type TokenUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
};

/** Fields of the official event that the server never sends are left out of the types. */
type Official<Type extends `${EventType}`, Fields extends string> = {
  [One in Type]: { readonly type: One } & Readonly<
    Pick<Extract<AGUIEvent, { type: One }>, Fields & keyof Extract<AGUIEvent, { type: One }>>
  >;
}[Type];

/** Output of a model. */
export type ContentEvent =
  | Official<'REASONING_START' | 'REASONING_END' | 'REASONING_MESSAGE_END' | 'TEXT_MESSAGE_END', 'messageId'>
  | Official<'REASONING_MESSAGE_START', 'messageId' | 'role'>
  | DeltaEvent
  | (Official<'TEXT_MESSAGE_START', 'messageId' | 'role'> & { readonly role: 'assistant' | 'user' })
  | (Official<'TOOL_CALL_START', 'toolCallId' | 'toolCallName' | 'parentMessageId'> & {
      readonly parentMessageId: string;
    })
  | Official<'TOOL_CALL_ARGS', 'toolCallId' | 'delta'>
  | Official<'TOOL_CALL_END', 'toolCallId'>
  | (Official<'TOOL_CALL_RESULT', 'messageId' | 'toolCallId' | 'content' | 'role'> & {
      readonly content: string;
      readonly role: 'tool';
    });

export type DeltaEvent = Official<
  'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT',
  'messageId' | 'delta'
>;

/** The frame of a run. */
export type RunEvent =
  | Official<'RUN_STARTED', 'threadId' | 'runId' | 'protocolVersion'>
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly Message[] }
  | (Official<'RUN_FINISHED', 'threadId' | 'runId'> & {
      readonly outcome?: Outcome;
      readonly usage?: readonly TokenUsage[];
    })
  | (Official<'RUN_ERROR', 'message' | 'code'> & { readonly code: string });

export type AguiEvent = ContentEvent | RunEvent;

export const encode = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
