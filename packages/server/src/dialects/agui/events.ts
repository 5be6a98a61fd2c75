/** The protocol events that the server sends. Optional fields are left out, never null. */

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

/** Output of a model. */
export type ContentEvent =
  | { readonly type: 'REASONING_START' | 'REASONING_END'; readonly messageId: string }
  | { readonly type: 'REASONING_MESSAGE_START'; readonly messageId: string; readonly role: 'reasoning' }
  | { readonly type: 'REASONING_MESSAGE_END' | 'TEXT_MESSAGE_END'; readonly messageId: string }
  | DeltaEvent
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' | 'user' }
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: 'tool';
    };

export type DeltaEvent = {
  readonly type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT';
  readonly messageId: string;
  readonly delta: string;
};

/** The frame of a run. */
export type RunEvent =
  | {
      readonly type: 'RUN_STARTED';
      readonly threadId: string;
      readonly runId: string;
      readonly protocolVersion?: string;
    }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly Message[] }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome?: Outcome;
      readonly usage?: readonly TokenUsage[];
    }
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code: string };

export type AguiEvent = ContentEvent | RunEvent;

export const encode = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
