/** What the suite needs to know about a model API. */
import type { JsonObject, Usage } from '@parlance/protocol';
import type { Prompt } from '../../../core/ports/provider.ts';
import type { ModelApi } from '../../../providers/model-api.ts';

/** Every model API has a fixture for each of these in `fixtures/<api>/<hazard>.sse`, or a reason why it cannot happen. */
export const HAZARDS = [
  'unicode',
  'empty-answer',
  'two-calls',
  'arguments-in-pieces',
  'arguments-not-json',
  'unknown-events',
  'keep-alive',
  'crlf',
  'error-in-the-middle',
  'no-end',
  'reasoning',
  'refusal',
  'length',
  'usage',
] as const;
export type Hazard = (typeof HAZARDS)[number];

/** An answer as an independent reading of its bytes. */
export type Reading = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly call: string; readonly tool: string; readonly input: JsonObject }[];
  readonly usage: Usage;
  readonly stop: 'done' | 'calls' | 'length' | 'refused';
  /** number of reasoning blocks that are wanted back */
  readonly sealed: number;
};

export type Enrolment = {
  /** name of its fixtures */
  readonly name: string;
  /** the file next to the suite */
  readonly file: string;
  /** its folders of recordings */
  readonly folders: readonly string[];
  api(options: { key: string; baseUrl: string; model: string }): ModelApi<unknown>;
  /** Parses a recorded answer independently of the model API. Missing ids of calls are ''. */
  read(body: string): Reading;
  /** A recorded request as a prompt; null if a prompt cannot express it. */
  prompt(body: JsonObject): Prompt | null;
  /** The relevant parts of a request: roles, texts, pairs of calls and results, images, tools. */
  shape(body: JsonObject): unknown;
  readonly lacks?: Partial<Record<Hazard, string>>;
  /** why arguments of calls are not streamed, if they are not */
  readonly wholeArguments?: string;
};
