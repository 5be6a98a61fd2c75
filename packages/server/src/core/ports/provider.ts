/** A model API. */
import {
  type FaultData,
  type Json,
  type JsonObject,
  type Link,
  type ModelOptions,
  type Part,
  type PromptPart,
  promptParts,
  type Sealed,
  type Usage,
} from '@parlance/protocol';

export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input */
  readonly parameters: JsonObject;
};

/** The conversation as a flat list, in order. Every `call` is followed by a `result`, before any `system`. */
export type PromptItem<Content extends Part = PromptPart> =
  | { readonly kind: 'user'; readonly parts: readonly Content[]; readonly data?: JsonObject }
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
      readonly parts: readonly Content[];
      readonly failed: boolean;
      /** for programs; not sent to vendors */
      readonly data?: JsonObject;
    }
  | { readonly kind: 'summary'; readonly text: string };

/** An item of a session's context, in which pages are still separate from what was written. */
export type ContextItem = PromptItem<Part>;

/** The items as a model reads them. Those without a page are the same objects. */
export const promptItemsOf = (items: readonly ContextItem[]): PromptItem[] =>
  items.map((item) =>
    'parts' in item && item.parts.some(({ type }) => type === 'page')
      ? { ...item, parts: promptParts(item.parts) }
      : (item as PromptItem),
  );

export type Prompt = {
  /** for the offline model; other models follow the instructions */
  readonly task: 'chat' | 'summary' | 'explanation' | 'compaction' | 'sampling';
  readonly instructions: string;
  readonly items: readonly PromptItem[];
  readonly tools: readonly ToolSpec[];
  /** options of the caller for this answer; each provider sends those that its API supports */
  readonly options?: ModelOptions;
};

export type ProviderEvent =
  | { readonly type: 'reasoning'; readonly text: string }
  /**
   * The reasoning so far is complete; the vendor requires this data in later requests. There may be no text.
   */
  | { readonly type: 'sealed'; readonly sealed: Sealed }
  | { readonly type: 'text'; readonly text: string }
  /** A part of the arguments of a call, for display only: `call` has them complete. */
  | {
      readonly type: 'arguments';
      /** index of the call within the answer, from 0 */
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
      /** the arguments as the model wrote them, if they are not a JSON object; `input` is then empty */
      readonly malformed?: string;
      readonly sealed?: Sealed;
    }
  /** The request is retried after `delayMs`: all output so far is discarded. */
  | {
      readonly type: 'retrying';
      readonly attempt: number;
      readonly delayMs: number;
      readonly fault: FaultData;
      /** host and port of the vendor */
      readonly host?: string;
    }
  /** What the vendor has counted of an answer that goes on. It counts only if the answer is broken off. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'ended'; readonly usage: Usage; readonly stop: 'done' | 'calls' | 'length' | 'refused' }
  | { readonly type: 'failed'; readonly fault: FaultData };

/**
 * Accepts text synchronously as it arrives, without a promise. Returns false if it cannot: the text is then
 * sent as an event. Never throws.
 */
export type OnDelta = (kind: 'text' | 'reasoning', text: string) => boolean;

export interface Provider {
  readonly name: string;
  readonly model: string;
  /** maximum number of tokens of a prompt and its answer */
  readonly contextLimit: number;
  /** whether `usage` is the vendor's count instead of an estimate */
  readonly counts?: boolean;
  /** the models that may answer instead, in order; used by the engine */
  readonly fallbacks?: readonly Provider[];
  /** Whether the vendor fetches such a link for the model. Without it, links are sent as their text. */
  readonly acceptsLink?: (link: Link) => boolean;
  /**
   * Ends in exactly one `ended` or `failed`, and never throws once called. Ends soon after the signal is
   * aborted. May call `take` only while the next event is awaited.
   */
  stream(prompt: Prompt, signal: AbortSignal, take?: OnDelta): AsyncIterable<ProviderEvent>;
}

/** Answers as another provider, which may change between requests. */
export class StandIn implements Provider {
  constructor(protected readonly current: () => Provider) {}

  get name() {
    return this.current().name;
  }

  get model() {
    return this.current().model;
  }

  get contextLimit() {
    return this.current().contextLimit;
  }

  get counts() {
    return this.current().counts ?? false;
  }

  get fallbacks() {
    return this.current().fallbacks ?? [];
  }

  acceptsLink(link: Link): boolean {
    return this.current().acceptsLink?.(link) ?? false;
  }

  stream(...request: Parameters<Provider['stream']>): AsyncIterable<ProviderEvent> {
    return this.current().stream(...request);
  }
}

// Limits on the length of a model's answer. If one is exceeded, the answer fails and its stream is closed.

export type AnswerLimits = {
  /** characters of text and reasoning */
  readonly answerCharacters: number;
  /** characters of the arguments of all calls, and of sealed vendor data */
  readonly argumentCharacters: number;
  readonly answerCalls: number;
};

export type AnswerLimit = keyof AnswerLimits;

const UNITS: Record<AnswerLimit, string> = {
  answerCharacters: 'characters of text and reasoning',
  argumentCharacters: 'characters of arguments',
  answerCalls: 'calls',
};

/** The message names the limit by its setting. */
export const answerTooLong = (limit: AnswerLimit, max: number): FaultData => ({
  code: 'answer_too_long',
  message: `The model's answer was stopped: it has more than ${max.toLocaleString('en')} ${UNITS[limit]} (${limit}).`,
});
