/** The stored form of an event: JSON and the schema version it was written in. What is checked and indexed when it is appended. */
import {
  type ApprovalId,
  type DurableEvent,
  type EventUpcast,
  Fault,
  parseDurableEvent,
  type QuestionId,
  type TurnId,
  upcast,
} from '@parlance/protocol';
import {
  isLookupLabel,
  type LabelKey,
  type LookupKey,
  labelKey,
  type SessionRecord,
  type SessionRef,
  sessionKey,
} from '../../core/ports/event-store.ts';
import { storable } from './text.ts';

export type StoredRow = { readonly seq: number; readonly version: number; readonly body: string };

export type EventOptions = {
  /** upcasters for older versions; they determine the current version */
  readonly upcasts?: readonly EventUpcast[];
};

/** Throws if a stored event is damaged or of a newer version: it must not be skipped. */
export function readStored(
  ref: SessionRef,
  { seq, version, body }: StoredRow,
  { upcasts }: EventOptions,
): DurableEvent {
  try {
    return parseDurableEvent(upcast(JSON.parse(body), version, upcasts));
  } catch (error) {
    if (error instanceof Fault) throw error;
    const cause = new Error(`event ${seq} of session ${sessionKey(ref)} is damaged`, { cause: error });
    throw new Fault('storage_unavailable', `Event ${seq} of the session is damaged.`, { cause });
  }
}

// Validates an append before the store reads the session: a log with a gap would be unreadable.

/** Throws if the caller has a bug: events of another session, or not numbered from `expected` on. */
export function checkNumbering(
  expected: number,
  events: readonly DurableEvent[],
  record: SessionRecord,
): void {
  const stray = events.find((event, index) => event.seq !== expected + 1 + index);
  if (stray) throw new Error(`event ${stray.seq} does not follow ${expected}`);
  const foreign = events.find((event) => event.session !== record.ref.id);
  if (foreign) throw new Error(`event ${foreign.seq} belongs to another session`);
  const head = expected + events.length;
  if (head === 0) throw new Error('a session must begin with an event');
  if (record.head !== head)
    throw new Error(`the record has head ${record.head}, but the last event is ${head}`);
}

// Lookup keys of a session, derived from its events.

export const lookupKeysOf = (events: readonly DurableEvent[]): LookupKey[] =>
  events.flatMap((event): LookupKey[] => {
    if (event.type === 'approval.requested') return [storableKey({ kind: 'approval', id: event.approval })];
    if (event.type === 'question.asked') return [storableKey({ kind: 'question', id: event.question })];
    if (event.type === 'input.accepted' && event.turn) return [storableKey({ kind: 'turn', id: event.turn })];
    if (event.type === 'turn.started') return [storableKey({ kind: 'turn', id: event.turn })];
    if (event.type === 'session.labelled') return labelKeys(event.labels);
    return [];
  });

const labelKeys = (labels: Readonly<Record<string, string>>): LookupKey[] =>
  Object.entries(labels).flatMap(([name, value]) =>
    isLookupLabel(name) ? [storableKey(labelKey(name, value))] : [],
  );

export function storableKey(key: LookupKey): LookupKey {
  switch (key.kind) {
    case 'approval':
      return { kind: key.kind, id: storable(key.id) as ApprovalId };
    case 'question':
      return { kind: key.kind, id: storable(key.id) as QuestionId };
    case 'turn':
      return { kind: key.kind, id: storable(key.id) as TurnId };
    case 'label':
      return { kind: key.kind, id: storable(key.id) as LabelKey };
  }
}
