import { expect, test } from 'bun:test';
import { ApprovalId, CallId, type DurableEvent, InputId, PrincipalId, TurnId } from '@parlance/protocol';
import {
  type LabelKey,
  type LookupKey,
  labelKey,
  type SessionRecord,
  type SessionRef,
  type SessionStore,
} from '../../../core/ports/event-store.ts';
import { begin, idsOf, recordOf, refOf, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

const ADA = PrincipalId.parse('ada');
const BOB = PrincipalId.parse('bob');
const approvalKey = (id: string): LookupKey => ({ kind: 'approval', id: ApprovalId.parse(id) });
const turnKey = (id: string): LookupKey => ({ kind: 'turn', id: TurnId.parse(id) });

const base = (ref: SessionRef, seq: number) => ({ session: ref.id, id: `event-${seq}`, at: seq, seq });

const requestEvent = (ref: SessionRef, seq: number, approval: string): DurableEvent => ({
  ...base(ref, seq),
  type: 'approval.requested',
  turn: TurnId.parse('turn'),
  call: CallId.parse('call'),
  approval: ApprovalId.parse(approval),
  ask: { kind: 'other', command: ['ls'], description: 'Lists files.' },
  hash: 'hash',
});

const turnEvent = (ref: SessionRef, seq: number, turn: string): DurableEvent => ({
  ...base(ref, seq),
  type: 'turn.started',
  turn: TurnId.parse(turn),
  input: InputId.parse('input'),
  agent: { id: 'assistant', name: 'Assistant' },
});

const queuedEvent = (ref: SessionRef, seq: number, turn?: string): DurableEvent => ({
  ...base(ref, seq),
  type: 'input.accepted',
  input: InputId.parse('input'),
  parts: [],
  dialect: 'native',
  turn: turn === undefined ? undefined : TurnId.parse(turn),
});

/** Creates a session with this pending approval. */
const ask = (
  store: SessionStore,
  ref: SessionRef,
  { request, ...changes }: Partial<SessionRecord> & { readonly request: string },
): Promise<unknown> =>
  store.append(
    0,
    [requestEvent(ref, 1, request)],
    recordOf(ref, 1, { status: 'waiting', pending: ApprovalId.parse(request), ...changes }),
  );

export function lookupContract(implementation: Implementation): void {
  const idFor = async (store: SessionStore, key: LookupKey, owner?: PrincipalId): Promise<string | null> =>
    (await store.lookup(key, { owner }))?.ref.id ?? null;

  test('a session is found by its approvals, pending or answered', () =>
    withStore(implementation, async (store) => {
      const ref = refOf('ada', 'asks');
      await begin(store, refOf('ada', 'other'));
      await ask(store, ref, { request: 'one' });
      expect(await store.lookup(approvalKey('one'))).toMatchObject({ ref, pending: 'one' });
      await store.append(1, textEvents(ref, 1, 1), recordOf(ref, 2));
      await store.append(2, [requestEvent(ref, 3, 'two')], recordOf(ref, 3));
      expect(await store.lookup(approvalKey('one'))).toMatchObject({ ref, pending: null, head: 3 });
      expect(await idFor(store, approvalKey('two'))).toBe(ref.id);
      expect(await idFor(store, approvalKey('three'))).toBeNull();
    }));

  test('a session is found by each of its turns, and turn ids are distinct from approval ids', () =>
    withStore(implementation, async (store) => {
      const ref = refOf('ada', 'works');
      await store.append(0, [turnEvent(ref, 1, 'first'), turnEvent(ref, 2, 'second')], recordOf(ref, 2));
      expect(await idFor(store, turnKey('first'))).toBe(ref.id);
      expect(await idFor(store, turnKey('second'), ADA)).toBe(ref.id);
      expect(await idFor(store, approvalKey('first'))).toBeNull();
      expect(await idFor(store, turnKey('turn'))).toBeNull();
    }));

  test('a session is found by a turn, queued or started', () =>
    withStore(implementation, async (store) => {
      const ref = refOf('ada', 'works');
      await store.append(0, [queuedEvent(ref, 1), queuedEvent(ref, 2, 'later')], recordOf(ref, 2));
      expect(await idFor(store, turnKey('later'))).toBe(ref.id);
      await store.append(2, [turnEvent(ref, 3, 'later')], recordOf(ref, 3));
      expect(await idFor(store, turnKey('later'))).toBe(ref.id);
      const at = [queuedEvent(ref, 4, 'both'), turnEvent(ref, 5, 'both')];
      await store.append(3, at, recordOf(ref, 5));
      expect(await idFor(store, turnKey('both'))).toBe(ref.id);
    }));

  test('a session is found by every value of an @ label, and by no other label', () =>
    withStore(implementation, async (store) => {
      const ref = refOf('ada', 'labelled');
      const labelled = (seq: number, labels: Record<string, string>): DurableEvent => ({
        ...base(ref, seq),
        type: 'session.labelled',
        labels,
      });
      await store.append(0, [labelled(1, { '@digest': 'one', plain: 'one' })], recordOf(ref, 1));
      await store.append(1, [labelled(2, { '@digest': 'two' })], recordOf(ref, 2));
      expect(await idFor(store, labelKey('@digest', 'one'))).toBe(ref.id);
      expect(await idFor(store, labelKey('@digest', 'two'), ADA)).toBe(ref.id);
      expect(await idFor(store, labelKey('@digest', 'two'), BOB)).toBeNull();
      expect(await idFor(store, labelKey('@plain', 'one'))).toBeNull();
      expect(await idFor(store, { kind: 'label', id: 'plain=one' as LabelKey })).toBeNull();
    }));

  test('an owner finds only their own sessions, and ids that databases cannot store do not collide', () =>
    withStore(implementation, async (store) => {
      await ask(store, refOf('ada', 'hers'), { request: 'one', updatedAt: 1 });
      await ask(store, refOf('bob', 'his'), { request: 'two', updatedAt: 2 });
      await ask(store, refOf('ada', 'odd'), { request: 'od\0d \ud83d', updatedAt: 3 });
      expect(await idFor(store, approvalKey('one'), ADA)).toBe('hers');
      expect(await idFor(store, approvalKey('two'), ADA)).toBeNull();
      expect(await idFor(store, approvalKey('two'), BOB)).toBe('his');
      expect(await idFor(store, approvalKey('od\0d \ud83d'), ADA)).toBe('odd');
      expect(await idFor(store, approvalKey('od'), ADA)).toBeNull();
    }));

  test('of several copies, finds one whose approval is pending, then the most recently changed', () =>
    withStore(implementation, async (store) => {
      await ask(store, refOf('ada', 'old'), { request: 'one', updatedAt: 1, status: 'idle', pending: null });
      await ask(store, refOf('ada', 'new'), { request: 'one', updatedAt: 3, status: 'idle', pending: null });
      expect(await idFor(store, approvalKey('one'))).toBe('new');
      await ask(store, refOf('ada', 'waits'), { request: 'one', updatedAt: 2 });
      expect(await idFor(store, approvalKey('one'))).toBe('waits');
      expect(await idFor(store, approvalKey('one'), BOB)).toBeNull();
      expect(await store.lookup(approvalKey('one'), refOf('ada', 'old'))).toMatchObject({ updatedAt: 1 });
      expect(await store.lookup(approvalKey('one'), refOf('ada', 'none'))).toBeNull();
    }));

  test('an erased session is no longer found, and a session with the same id does not inherit its keys', () =>
    withStore(implementation, async (store) => {
      const ref = refOf('ada', 'asks');
      await ask(store, ref, { request: 'one' });
      await ask(store, refOf('bob', 'copy'), { request: 'one', updatedAt: 1 });
      await store.erase(ref);
      expect(await idFor(store, approvalKey('one'))).toBe('copy');
      expect(await store.count({ awaitsUser: true })).toBe(1);
      await begin(store, ref);
      expect(await idFor(store, approvalKey('one'), ADA)).toBeNull();
    }));

  test('a refused append adds no lookup key', () =>
    withStore(implementation, async (store) => {
      const ref = refOf('ada', 'asks');
      await begin(store, ref);
      await expect(ask(store, ref, { request: 'one' })).rejects.toMatchObject({ name: 'AppendConflict' });
      expect(await idFor(store, approvalKey('one'))).toBeNull();
      expect(await store.count({ awaitsUser: true })).toBe(0);
    }));

  test('sessions with pending approvals are listed and counted, page by page', () =>
    withStore(implementation, async (store) => {
      for (let index = 0; index < 5; index++) {
        await begin(store, refOf('ada', `idle${index}`), { updatedAt: index });
        await begin(store, refOf('ada', `deferred${index}`), { updatedAt: index, status: 'waiting' });
        await ask(store, refOf('ada', `asks${index}`), { request: `a${index}`, updatedAt: index });
        await ask(store, refOf('bob', `asks${index}`), {
          request: `b${index}`,
          updatedAt: index,
          archived: index === 0,
        });
      }
      const filter = { owner: ADA, awaitsUser: true } as const;
      const first = await store.list({ ...filter, limit: 3 });
      expect(idsOf(first.sessions)).toEqual(['asks4', 'asks3', 'asks2']);
      expect(first.sessions.map(({ pending }) => String(pending))).toEqual(['a4', 'a3', 'a2']);
      const second = await store.list({ ...filter, limit: 3, cursor: first.next ?? '' });
      expect(idsOf(second.sessions)).toEqual(['asks1', 'asks0']);
      expect(second.next).toBeNull();
      expect(await store.count(filter)).toBe(5);
      expect(await store.count({ awaitsUser: true })).toBe(9);
      expect(await store.count({ awaitsUser: true, archived: 'included' })).toBe(10);
      const answered = refOf('ada', 'asks4');
      await store.append(1, textEvents(answered, 1, 1), recordOf(answered, 2));
      expect(idsOf((await store.list({ ...filter, limit: 1 })).sessions)).toEqual(['asks3']);
      expect(await store.count(filter)).toBe(4);
    }));
}
