/** What the clients of a run sent, received and showed, and what is stored at the end. */
import type { DurableEvent } from '../../packages/protocol/src/index.ts';

export type Sent = {
  readonly session: string;
  readonly dialect: string;
  /** from 1, in order of sending */
  readonly number: number;
  /** unique in its session */
  readonly text: string;
  /** acknowledged by the server, as the dialect defines it */
  acknowledged: boolean;
  /** in milliseconds of the wall clock */
  acknowledgedAt?: number;
};

/** An event as a reader received it. */
export type Received = {
  /** the reader, which reconnects with its position; null if the event was part of a receipt */
  readonly reader: string | null;
  readonly session: string;
  readonly seq: number;
  readonly id: string;
};

/** A text that a client showed as complete. */
export type Shown = {
  readonly session: string;
  readonly dialect: string;
  /** which text of a turn the dialect shows: of its last step, all of it, one block, or the outcome of its last call */
  readonly part: 'last step' | 'turn' | 'block' | 'outcome';
  /** the turn or block, if the dialect names it */
  readonly of?: string;
  readonly text: string;
};

/** A text assembled from deltas, and the expected one. */
export type Assembled = {
  readonly session: string;
  readonly dialect: string;
  readonly pieces: string;
  readonly whole: string;
};

export type Waited = {
  readonly session: string;
  readonly approval: string;
  /** `sent`: the server was killed before it responded */
  answer: 'none' | 'sent' | 'acknowledged';
};

/** A side effect that a message requests. Its name occurs only in the input of the call. */
export type Effect = { readonly session: string; readonly name: string };

export type Evidence = {
  readonly sent: readonly Sent[];
  readonly received: readonly Received[];
  readonly shown: readonly Shown[];
  readonly assembled: readonly Assembled[];
  readonly waited: readonly Waited[];
  readonly effects: readonly Effect[];
  /** names of effects, one entry per occurrence */
  readonly performed: readonly string[];
  /** approvals pending after the kills */
  readonly pending: readonly string[];
  /** client errors without a kill */
  readonly errors: readonly string[];
  readonly events: ReadonlyMap<string, readonly DurableEvent[]>;
};
