/** A model API. */
import type { FaultData, Json, JsonObject, Part, Sealed, Usage } from '@parlance/protocol';

export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input */
  readonly parameters: JsonObject;
};

/** The conversation as the model sees it: a flat list, in order. Every `call` has a `result` after it. */
export type PromptItem =
  | { readonly kind: 'user'; readonly parts: readonly Part[]; readonly data?: JsonObject }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string; readonly sealed?: Sealed }
  | {
      readonly kind: 'call';
      readonly call: string;
      readonly tool: string;
      readonly input: { [key: string]: Json };
      readonly sealed?: Sealed;
    }
  | {
      readonly kind: 'result';
      readonly call: string;
      readonly parts: readonly Part[];
      readonly failed: boolean;
      /** for programs to read; vendors are not sent it */
      readonly data?: JsonObject;
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
  /** The reasoning so far is complete, and the vendor wants this back with it. It may come without any text. */
  | { readonly type: 'sealed'; readonly sealed: Sealed }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'call';
      readonly call: string;
      readonly tool: string;
      readonly input: { [key: string]: Json };
      /** what the model wrote where that was not a JSON object; `input` is then empty */
      readonly malformed?: string;
      readonly sealed?: Sealed;
    }
  /** The answer is asked for again after `delayMs`: everything it has said so far is void. */
  | {
      readonly type: 'retrying';
      readonly attempt: number;
      readonly delayMs: number;
      readonly fault: FaultData;
      /** who is asked: host and port of its address */
      readonly host?: string;
    }
  | { readonly type: 'ended'; readonly usage: Usage; readonly stop: 'done' | 'calls' | 'length' | 'refused' }
  | { readonly type: 'failed'; readonly fault: FaultData };

/**
 * Words that are told in the moment they arrive, without a promise on their way. False where they have to wait for what
 * is being done: then they come as an event. Never throws.
 */
export type OnDelta = (kind: 'text' | 'reasoning', text: string) => boolean;

export interface Provider {
  readonly name: string;
  readonly model: string;
  /** how many tokens a prompt and its answer may have together */
  readonly contextLimit: number;
  /** the usage it tells is the vendor's own count, and not an estimate */
  readonly counts?: boolean;
  /**
   * Ends in exactly one `ended` or `failed`, and never throws once called. An aborted signal ends it soon. It may offer
   * words to `take`, but only while the next event is being waited for.
   */
  stream(prompt: Prompt, signal: AbortSignal, take?: OnDelta): AsyncIterable<ProviderEvent>;
}
