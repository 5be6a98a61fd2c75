/** A vendor's model API: writes a request and reads its stream. Pure; `http-provider.ts` does the I/O. */
import type { Link } from '@parlance/protocol';
import type { ServerSentEvent } from '@parlance/protocol/server-sent-events';
import type { Prompt, ProviderEvent } from '../core/ports/provider.ts';
import type { ApiFault, UsedKey } from './faults.ts';

export type ApiRequest = {
  readonly url: string;
  /** contains the key: never log it */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
};

/** The output of a step: events for the core, or a failure that may be retried. */
export type ApiEvent =
  | Exclude<ProviderEvent, { type: 'failed' | 'retrying' }>
  | { readonly type: 'failed'; readonly fault: ApiFault };

export const failed = (fault: ApiFault): ApiEvent[] => [{ type: 'failed', fault }];

/** What is held of an answer until its end: calls, and the characters of their arguments. */
export type BufferedOutput = { readonly calls: number; readonly characters: number };

export const NOTHING_BUFFERED: BufferedOutput = { calls: 0, characters: 0 };

/** What a held piece counts besides its characters: many tiny pieces use memory too. */
export const PIECE_OVERHEAD = 1_024;

/** A vendor's model and how it is reached. */
export type ApiOptions = UsedKey & {
  readonly model: string;
  readonly baseUrl?: string;
  readonly maxTokens?: number;
};

export interface ModelApi<State> {
  /** as in `Provider` */
  readonly acceptsLink?: (link: Link) => boolean;
  /** `plain`: without optional parts that the vendor may refuse although the prompt is valid: sealed items, summaries, hints. */
  request(prompt: Prompt, plain?: boolean): ApiRequest;
  start(): State;
  /**
   * Reads one server-sent event. Hot path: deltas are read with plain checks, schemas are for rare events. Unknown events are
   * ignored; malformed ones are a fault.
   */
  step(state: State, event: ServerSentEvent): readonly [State, readonly ApiEvent[]];
  /** Called after every step that changed the state or emitted nothing, so that an endless answer is stopped. */
  buffered(state: State): BufferedOutput;
  /** The stream has ended. Emits what is pending; ends in `ended` or `failed` unless `step` already did. */
  finish(state: State): readonly ApiEvent[];
  /** A response that is not a stream (a 200 may be one, too): its status and the beginning of its body. */
  refused(status: number, body: string): ApiFault;
}
