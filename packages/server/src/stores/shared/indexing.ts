/** What both databases index: the words of messages, and the turns of sessions. */

import { type DurableEvent, PrincipalId, SessionId, type TurnId } from '@parlance/protocol';
import { z } from 'zod';
import type { IndexedTurn, SearchHit, TurnState } from '../../core/ports/event-store.ts';
import { messageText } from '../../lib/message-text.ts';
import { wordsOf } from '../../lib/words.ts';
import { Flag, Integer } from './database.ts';
import { storable } from './text.ts';

/** Number of events per read; other statements run between two reads. */
export const BATCH = 200;

export const UnindexedSession = z.object({
  row: Integer,
  owner: PrincipalId,
  id: SessionId,
  head: Integer,
  indexed: Integer,
});

const Hit = z.object({
  owner: PrincipalId,
  id: SessionId,
  title: z.string(),
  archived: Flag,
  seq: Integer,
});

export function hitIn(row: unknown): SearchHit {
  const { owner, id, ...hit } = Hit.parse(row);
  return { ...hit, ref: { owner, id } };
}

/** Words beyond this number are not indexed. */
const MAX_WORDS = 20_000;

export type IndexedMessage = { readonly seq: number; readonly at: number; readonly words: readonly string[] };

export const indexedMessages = (events: readonly DurableEvent[]): IndexedMessage[] =>
  events.flatMap((event) => {
    const text = messageText(event);
    const words = text === null ? [] : wordsOf(text, MAX_WORDS).map(({ word }) => word);
    return words.length === 0 ? [] : [{ seq: event.seq, at: timeOf(event), words }];
  });

/** Imported events may have arbitrary times. */
const timeOf = ({ at }: DurableEvent): number => Math.trunc(Math.min(Math.max(at, 0), 4e12)) || 0;

/**
 * Indexed with each message, so that a search reads only messages of one owner. Never equals a word of a
 * message.
 */
export const ownerMark = (owner: PrincipalId): string =>
  new Bun.CryptoHasher('sha256').update(storable(owner)).digest('hex').slice(0, 32);

// What events change of the turns of their session.

/** All changes of a turn in one: its state after them. */
export type TurnChange = Omit<IndexedTurn, 'ref'> & {
  /** how many more approvals and answers it waits for; of a turn whose beginning is among the events, how many */
  readonly waiting: number;
};

const ENDS = {
  'turn.ended': 'ended',
  'turn.failed': 'failed',
  'turn.cancelled': 'cancelled',
  'input.cancelled': 'cancelled',
} as const;

export function turnChanges(events: readonly DurableEvent[]): TurnChange[] {
  const changes = new Map<TurnId, TurnChange>();
  const inputs = new Map<string, number>();
  const change = (
    event: DurableEvent,
    id: TurnId,
    { state, waiting = 0, first = event.seq }: { state: TurnState; waiting?: number; first?: number },
  ) => {
    const before = changes.get(id);
    const sum = (before?.waiting ?? 0) + waiting;
    changes.set(id, {
      id,
      state: state === 'working' && sum > 0 ? 'waiting' : state,
      at: timeOf(event),
      first: before?.first ?? first,
      last: event.seq,
      waiting: sum,
    });
  };
  for (const event of events) {
    switch (event.type) {
      case 'input.accepted':
        if (event.turn === undefined) inputs.set(event.input, event.seq);
        else change(event, event.turn, { state: 'queued' });
        break;
      case 'turn.started':
        change(event, event.turn, { state: 'working', first: inputs.get(event.input) ?? event.seq });
        break;
      case 'approval.requested':
      case 'question.asked':
        change(event, event.turn, { state: 'working', waiting: 1 });
        break;
      case 'approval.answered':
      case 'question.answered':
        change(event, event.turn, { state: 'working', waiting: -1 });
        break;
      case 'input.joined':
        change(event, event.own, { state: 'ended' });
        break;
      case 'turn.ended':
      case 'turn.failed':
      case 'turn.cancelled':
      case 'input.cancelled':
        change(event, event.turn, { state: ENDS[event.type] });
        break;
      default:
    }
  }
  return [...changes.values()];
}

/** The end of an INSERT into `turns`. */
export const CHANGE_TURN = `
  ON CONFLICT (session, id) DO UPDATE SET
    state = CASE
      WHEN excluded.state NOT IN ('working', 'waiting') THEN excluded.state
      WHEN turns.waiting + excluded.waiting > 0 THEN 'waiting'
      ELSE 'working'
    END,
    at = excluded.at, last_seq = excluded.last_seq,
    waiting = CASE WHEN turns.waiting + excluded.waiting > 0 THEN turns.waiting + excluded.waiting ELSE 0 END`;

/** Without the end if an input and the start of its turn, which are appended together, would be in two pages. */
export function withWholeInputs(events: readonly DurableEvent[]): readonly DurableEvent[] {
  const started = new Set(events.flatMap((event) => (event.type === 'turn.started' ? [event.input] : [])));
  const cut = events.findIndex(
    (event) => event.type === 'input.accepted' && event.turn === undefined && !started.has(event.input),
  );
  return cut > 0 ? events.slice(0, cut) : events;
}
