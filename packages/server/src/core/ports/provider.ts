/** A model API. */
import type { FaultData, Json, JsonObject, Part, Usage } from '@parlance/protocol';

export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input */
  readonly parameters: JsonObject;
};

/** The conversation as the model sees it: a flat list, in order. Every `call` has a `result` after it. */
export type PromptItem =
  | { readonly kind: 'user'; readonly parts: readonly Part[] }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly call: string;
      readonly tool: string;
      readonly input: { [key: string]: Json };
    }
  | {
      readonly kind: 'result';
      readonly call: string;
      readonly parts: readonly Part[];
      readonly failed: boolean;
    }
  | { readonly kind: 'summary'; readonly text: string };

export type Prompt = {
  /** what is wanted; a real model reads it from the instructions, the offline one from here */
  readonly task: 'chat' | 'summary' | 'explanation' | 'compaction';
  readonly instructions: string;
  readonly items: readonly PromptItem[];
  readonly tools: readonly ToolSpec[];
};

export type ProviderEvent =
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'call';
      readonly call: string;
      readonly tool: string;
      readonly input: { [key: string]: Json };
    }
  | { readonly type: 'ended'; readonly usage: Usage; readonly stop: 'done' | 'calls' | 'length' | 'refused' }
  | { readonly type: 'failed'; readonly fault: FaultData };

export interface Provider {
  readonly name: string;
  readonly model: string;
  /** how many tokens a prompt and its answer may have together */
  readonly contextLimit: number;
  /** Ends in exactly one `ended` or `failed`, and never throws once called. An aborted signal ends it soon. */
  stream(prompt: Prompt, signal: AbortSignal): AsyncIterable<ProviderEvent>;
}
