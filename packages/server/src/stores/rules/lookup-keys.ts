/** What a session can be found by, as its facts say. */
import type { ApprovalId, Fact, TurnId } from '@parlance/protocol';
import type { LookupKey } from '../../core/ports/store.ts';
import { storable } from './text.ts';

export const lookupKeysOf = (facts: readonly Fact[]): LookupKey[] =>
  facts.flatMap((fact): LookupKey[] => {
    if (fact.type === 'approval.requested') return [storableKey({ kind: 'approval', id: fact.approval })];
    if (fact.type === 'turn.started') return [storableKey({ kind: 'turn', id: fact.turn })];
    return [];
  });

export const storableKey = (key: LookupKey): LookupKey =>
  key.kind === 'approval'
    ? { kind: key.kind, id: storable(key.id) as ApprovalId }
    : { kind: key.kind, id: storable(key.id) as TurnId };
