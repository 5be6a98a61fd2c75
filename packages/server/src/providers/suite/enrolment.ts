/** What the suite has to know about a wire. */
import type { JsonObject, Usage } from '@parlance/protocol';
import type { Prompt } from '../../core/ports/provider.ts';
import type { Wire } from '../wire.ts';

/** Every wire has a fixture for each of these in `fixtures/<wire>/<hazard>.sse`, or a reason why it cannot happen. */
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

/** An answer as a plain reading of its bytes tells it. */
export type Reading = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly call: string; readonly tool: string; readonly input: JsonObject }[];
  readonly usage: Usage;
  readonly stop: 'done' | 'calls' | 'length' | 'refused';
  /** how many blocks of reasoning are wanted back */
  readonly sealed: number;
};

export type Enrolment = {
  /** names its fixtures */
  readonly name: string;
  /** the file beside the suite */
  readonly file: string;
  /** folders of recordings that it speaks */
  readonly folders: readonly string[];
  wire(options: { key: string; baseUrl: string; model: string }): Wire<unknown>;
  /** Reads a recorded answer in another way than the wire does. Ids of calls that the vendor does not give are ''. */
  read(body: string): Reading;
  /** A recorded request as a prompt; null where a prompt cannot say it. */
  prompt(body: JsonObject): Prompt | null;
  /** What matters in a request: roles, texts, which result belongs to which call, images, tools. */
  shape(body: JsonObject): unknown;
  readonly lacks?: Partial<Record<Hazard, string>>;
};
