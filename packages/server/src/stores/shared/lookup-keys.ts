/** Lookup keys of a session, derived from its events. */
import type { ApprovalId, DurableEvent, TurnId } from '@parlance/protocol';
import type { LookupKey } from '../../core/ports/event-store.ts';
import { storable } from './text.ts';

export const lookupKeysOf = (events: readonly DurableEvent[]): LookupKey[] =>
  events.flatMap((event): LookupKey[] => {
    if (event.type === 'approval.requested') return [storableKey({ kind: 'approval', id: event.approval })];
    if (event.type === 'turn.started') return [storableKey({ kind: 'turn', id: event.turn })];
    return [];
  });

export const storableKey = (key: LookupKey): LookupKey =>
  key.kind === 'approval'
    ? { kind: key.kind, id: storable(key.id) as ApprovalId }
    : { kind: key.kind, id: storable(key.id) as TurnId };
