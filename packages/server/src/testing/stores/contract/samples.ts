/** Small, distinguishable sessions and events for the contract. */
import {
  BlockId,
  type DurableEvent,
  type EventUpcast,
  eventVersion,
  PrincipalId,
  SessionId,
  TurnId,
} from '@parlance/protocol';
import type { EventStore, SessionRecord, SessionRef } from '../../../core/ports/event-store.ts';

export const refOf = (owner: string, id: string): SessionRef => ({
  owner: PrincipalId.parse(owner),
  id: SessionId.parse(id),
});

export const textEvent = (ref: SessionRef, seq: number, text = `text ${seq}`): DurableEvent => ({
  type: 'text.ended',
  session: ref.id,
  id: `event-${seq}`,
  at: 1_700_000_000_000 + seq,
  seq,
  turn: TurnId.parse('turn'),
  block: BlockId.parse(`block-${seq}`),
  text,
});

/** `count` events that continue from `expected`. */
export const textEvents = (ref: SessionRef, expected: number, count: number): DurableEvent[] =>
  Array.from({ length: count }, (_, index) => textEvent(ref, expected + 1 + index));

export const recordOf = (
  ref: SessionRef,
  head: number,
  changes: Partial<SessionRecord> = {},
): SessionRecord => ({
  ref,
  dialect: 'native',
  domain: 'default',
  agent: 'assistant',
  title: `session ${ref.id}`,
  renamed: false,
  firstInput: '',
  status: 'idle',
  pending: null,
  archived: false,
  ephemeral: false,
  parent: null,
  pinned: false,
  tags: [],
  labels: {},
  messageCount: 0,
  lastModel: 'large',
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_000 + head,
  head,
  checkpoint: null,
  ...changes,
});

/** Creates a session with one event, or with as many as the record counts. */
export const begin = (
  store: EventStore,
  ref: SessionRef,
  changes: Partial<SessionRecord> = {},
): Promise<unknown> => {
  const head = changes.head ?? 1;
  return store.append(0, textEvents(ref, 0, head), recordOf(ref, head, changes));
};

export const seqsOf = (events: readonly DurableEvent[]): number[] => events.map((event) => event.seq);
export const idsOf = (records: readonly SessionRecord[]): string[] => records.map(({ ref }) => ref.id);

/** The outcome of a promise, so that many can be awaited together. */
export const outcomeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'written',
    (error: Error) => error.name,
  );

/** Upcasts of a release with one more event version. */
export const newerUpcasts = (step: EventUpcast = {}): EventUpcast[] => [
  ...Array.from({ length: eventVersion() - 1 }, () => ({})),
  step,
];
