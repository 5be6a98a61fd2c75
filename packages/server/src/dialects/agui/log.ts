/** Finds the input or turn of a request in the log of a session, backwards. */
import { type DurableEvent, type InputId, type Part, type TurnId, textOf } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/index.ts';

const PAGE = 200;

type Log = {
  readonly engine: Pick<Engine, 'eventsBackwards'>;
  readonly ref: SessionRef;
  readonly head: number;
};

async function* newestFirst({ engine, ref, head }: Log): AsyncGenerator<DurableEvent, void> {
  for await (const events of engine.eventsBackwards(ref, head, PAGE)) yield* events.reverse();
}

export type KnownInput = {
  /** the id of the message in the request; null if it was found by the run */
  readonly message: string | null;
  readonly input: InputId;
  /** the number of the event that accepted it; null if it is imported history, which has no turn */
  readonly seq: number | null;
};

export type InputQuery = {
  /** ids of user messages */
  readonly messages: ReadonlySet<string>;
  /** the id of the run, and the parts it would submit */
  readonly run: string;
  readonly parts: readonly Part[];
};

/**
 * The latest of these messages in the log, or the message that the same run submitted; null if there is none.
 */
export async function findInput(log: Log, { messages, run, parts }: InputQuery): Promise<KnownInput | null> {
  if (messages.size === 0) return null;
  const text = textOf(parts);
  for await (const event of newestFirst(log)) {
    if (event.type === 'input.accepted') {
      const { input, seq, key } = event;
      const message = [key, input].find((id) => id !== undefined && messages.has(id));
      if (message !== undefined) return { message, input, seq };
      if (event.data?.run === run && textOf(event.parts) === text) return { message: null, input, seq };
    } else if (event.type === 'history.imported' && event.input) {
      const [first] = event.items;
      const key = first?.type === 'user' ? first.key : undefined;
      const message = [key, event.input].find((id) => id !== undefined && messages.has(id));
      if (message !== undefined) return { message, input: event.input, seq: null };
    }
  }
  return null;
}

export type KnownTurn = {
  readonly turn: TurnId;
  /** the number of the event that started it */
  readonly began: number;
  /** the number of the found event */
  readonly seq: number;
};

/** The turn of the latest event that `fits`; null if there is none. */
export async function findTurn(log: Log, fits: (event: DurableEvent) => boolean): Promise<KnownTurn | null> {
  let found: { readonly turn: TurnId; readonly seq: number } | null = null;
  for await (const event of newestFirst(log)) {
    if (!found && 'turn' in event && event.turn && fits(event)) found = { turn: event.turn, seq: event.seq };
    if (found && event.type === 'turn.started' && event.turn === found.turn)
      return { ...found, began: event.seq };
  }
  return null;
}
