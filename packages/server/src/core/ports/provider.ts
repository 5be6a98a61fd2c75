/** A model API. */
import type {
  FaultData,
  Json,
  JsonObject,
  Link,
  ModelOptions,
  Part,
  Sealed,
  Usage,
} from '@parlance/protocol';

export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input */
  readonly parameters: JsonObject;
};

/** The conversation as the model sees it: a flat list, in order. Every `call` has a `result` after it, before any `system`. */
export type PromptItem =
  | { readonly kind: 'user'; readonly parts: readonly Part[]; readonly data?: JsonObject }
  /** an instruction in the middle of the conversation */
  | { readonly kind: 'system'; readonly text: string }
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
      /** for programs; not sent to vendors */
      readonly data?: JsonObject;
    }
  | { readonly kind: 'summary'; readonly text: string };

export type Prompt = {
  /** for the offline model; other models read the task from the instructions */
  readonly task: 'chat' | 'summary' | 'explanation' | 'compaction';
  readonly instructions: string;
  readonly items: readonly PromptItem[];
  readonly tools: readonly ToolSpec[];
  /** what the caller wants of this answer; a vendor is sent what its API has a field for */
  readonly options?: ModelOptions;
};

export type ProviderEvent =
  | { readonly type: 'reasoning'; readonly text: string }
  /** The reasoning so far is complete; the vendor wants this data back with it. There may be no text. */
  | { readonly type: 'sealed'; readonly sealed: Sealed }
  | { readonly type: 'text'; readonly text: string }
  /** A part of the arguments of a call that is being written, for readers only: `call` has them whole. */
  | {
      readonly type: 'arguments';
      /** the position of the call among those of the answer, from 0 */
      readonly index: number;
      readonly call: string;
      readonly tool: string;
      /** JSON; the first part of a call may be empty */
      readonly text: string;
    }
  | {
      readonly type: 'call';
      readonly call: string;
      readonly tool: string;
      readonly input: { [key: string]: Json };
      /** what the model wrote, if it was not a JSON object; `input` is then empty */
      readonly malformed?: string;
      readonly sealed?: Sealed;
    }
  /** The request is sent again after `delayMs`: everything so far is void. */
  | {
      readonly type: 'retrying';
      readonly attempt: number;
      readonly delayMs: number;
      readonly fault: FaultData;
      /** host and port of the vendor */
      readonly host?: string;
    }
  | { readonly type: 'ended'; readonly usage: Usage; readonly stop: 'done' | 'calls' | 'length' | 'refused' }
  | { readonly type: 'failed'; readonly fault: FaultData };

/**
 * Takes text synchronously as it arrives, without a promise. False if it must wait: it then comes as an event. Never
 * throws.
 */
export type OnDelta = (kind: 'text' | 'reasoning', text: string) => boolean;

export interface Provider {
  readonly name: string;
  readonly model: string;
  /** how many tokens a prompt and its answer may have together */
  readonly contextLimit: number;
  /** the usage is the vendor's count, not an estimate */
  readonly counts?: boolean;
  /** Whether the vendor fetches such a link for the model. Without it, links are sent as their text. */
  readonly takes?: (link: Link) => boolean;
  /**
   * Ends in exactly one `ended` or `failed`, and never throws once called. An aborted signal ends it soon. It may call
   * `take` only while the next event is awaited.
   */
  stream(prompt: Prompt, signal: AbortSignal, take?: OnDelta): AsyncIterable<ProviderEvent>;
}
