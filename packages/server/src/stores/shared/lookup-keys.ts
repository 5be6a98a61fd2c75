/** Lookup keys of a session, derived from its events. */
import type { ApprovalId, DurableEvent, TurnId } from '@parlance/protocol';
import { isLookupLabel, type LabelKey, type LookupKey, labelKey } from '../../core/ports/event-store.ts';
import { storable } from './text.ts';

export const lookupKeysOf = (events: readonly DurableEvent[]): LookupKey[] =>
  events.flatMap((event): LookupKey[] => {
    if (event.type === 'approval.requested') return [storableKey({ kind: 'approval', id: event.approval })];
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
    case 'turn':
      return { kind: key.kind, id: storable(key.id) as TurnId };
    case 'label':
      return { kind: key.kind, id: storable(key.id) as LabelKey };
  }
}
