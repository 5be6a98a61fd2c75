/** What the clients of a run sent, were told and were shown, and what is there when it is over. */
import type { DurableEvent } from '../../packages/protocol/src/index.ts';

export type Sent = {
  readonly session: string;
  readonly dialect: string;
  /** from 1, in the order in which the client sent them */
  readonly number: number;
  /** no two messages of a session have the same */
  readonly text: string;
  /** the server has said, in the words of the wire, that it has it */
  acknowledged: boolean;
};

/** An event as a reader was told it. */
export type Told = {
  /** one that comes back after each kill with its position; null where the event came as a receipt */
  readonly reader: string | null;
  readonly session: string;
  readonly seq: number;
  readonly id: string;
};

/** A text that a client was shown as complete. */
export type Shown = {
  readonly session: string;
  readonly dialect: string;
  /** which text of a turn the wire shows: that of its last step, all of it, one block, or how its last call came out */
  readonly part: 'last step' | 'turn' | 'block' | 'outcome';
  /** the turn or block, where the wire names it */
  readonly of?: string;
  readonly text: string;
};

/** A text that came in pieces, and what it should be by the same wire. */
export type Assembled = {
  readonly session: string;
  readonly dialect: string;
  readonly pieces: string;
  readonly whole: string;
};

export type Waited = {
  readonly session: string;
  readonly approval: string;
  /** `sent`: the server was killed before it answered */
  answer: 'none' | 'sent' | 'acknowledged';
};

/** A side effect that a message asks for. Its name is in the input of the call, and in nothing else. */
export type Effect = { readonly session: string; readonly name: string };

export type Evidence = {
  readonly sent: readonly Sent[];
  readonly told: readonly Told[];
  readonly shown: readonly Shown[];
  readonly assembled: readonly Assembled[];
  readonly waited: readonly Waited[];
  readonly effects: readonly Effect[];
  /** names of effects, once for each time that they happened */
  readonly happened: readonly string[];
  /** approvals that were pending when the killing was over */
  readonly pending: readonly string[];
  /** what went wrong for a client although nobody was killed */
  readonly troubles: readonly string[];
  readonly events: ReadonlyMap<string, readonly DurableEvent[]>;
};
