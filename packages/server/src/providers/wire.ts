/** A vendor's model API: how a prompt is written, and how its stream is read. Pure; `http-provider.ts` does the I/O. */
import type { FaultData } from '@parlance/protocol';
import type { ServerSentEvent } from '@parlance/protocol/server-sent-events';
import type { Prompt, ProviderEvent } from '../core/ports/provider.ts';

export type WireRequest = {
  readonly url: string;
  /** the key is in here: never log it */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
};

/** A failure, and whether asking again may help. */
export type WireFault = FaultData & {
  readonly retryable: boolean;
  /** how long the vendor wants us to wait */
  readonly retryAfterMs?: number;
  /** the vendor refused an extra, not the prompt: it is asked once more, at once, in the plain form */
  readonly plainly?: boolean;
};

/** The stream ended before its end. */
export const BROKEN_OFF: WireFault = {
  code: 'provider_unavailable',
  message: 'The model stopped in the middle of its answer.',
  retryable: true,
};

/** An event that is not what it must be. It may have been cut, so it is asked for again. */
export const DAMAGED: WireFault = {
  code: 'provider_unavailable',
  message: "The model's answer was damaged on its way.",
  retryable: true,
};

/** What a step says: events for the core, or a failure that may be tried again. */
export type WireEvent =
  | Exclude<ProviderEvent, { type: 'failed' | 'retrying' }>
  | { readonly type: 'failed'; readonly fault: WireFault };

/** What of an answer is kept until its end: calls, and the characters of their arguments. */
export type Held = { readonly calls: number; readonly characters: number };

export const NOTHING_HELD: Held = { calls: 0, characters: 0 };

/** What a piece that is kept counts besides its characters: an answer of many tiny pieces is no small one. */
export const KEPT_PIECE = 1_024;

export interface Wire<State> {
  /** `plain`: without what the vendor may refuse although the prompt is good: sealed items, summaries, hints. */
  request(prompt: Prompt, plain?: boolean): WireRequest;
  start(): State;
  /**
   * One server-sent event. On the path of a token: reads a delta with plain checks, a schema is for what is rare.
   * An event that is not understood is passed over; one that is malformed is a fault.
   */
  step(state: State, event: ServerSentEvent): readonly [State, readonly WireEvent[]];
  /** Asked after every step that changed the state or said nothing, so that an answer that never ends is stopped. */
  held(state: State): Held;
  /** The stream has ended. Says what is still to be said; ends in `ended` or `failed` unless `step` did already. */
  finish(state: State): readonly WireEvent[];
  /** An answer that is not a stream (a 200 may be one, too): its status and the beginning of its body. */
  refused(status: number, body: string): WireFault;
}
