import { expect, test } from 'bun:test';
import { ApprovalId, CallId, type DurableEvent, InputId, PrincipalId, TurnId } from '@parlance/protocol';
import type { SessionRecord, SessionRef, TurnFilter } from '../../../core/ports/event-store.ts';

import type { Store } from '../../../stores/shared/store.ts';
import { recordOf, refOf } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

const ada = PrincipalId.parse('ada');
const EVERYTHING = 1_000_000;
const CONTEXT = { tokens: 1, limit: 2, items: 1, strategy: 'none' as const };
const AGENT = { id: 'assistant', name: 'Assistant' };

type Step =
  | 'accepted'
  | 'queued'
  | 'started'
  | 'joined'
  | 'asked'
  | 'answered'
  | 'ended'
  | 'failed'
  | 'cancelled'
  | 'said';

/** An event of a turn: `one started` at the time of its number. */
function eventOf(ref: SessionRef, words: string, seq: number): DurableEvent {
  const [name = '', step] = words.split(' ') as [string, Step];
  const base = { session: ref.id, id: `event-${seq}`, at: 1_000 + seq, seq };
  const turn = TurnId.parse(name);
  const input = InputId.parse(`input-${name}`);
  const call = CallId.parse('call');
  const approval = ApprovalId.parse(`approval-${seq}`);
  const usage = { inputTokens: 1, outputTokens: 1 };
  switch (step) {
    case 'accepted':
      return { ...base, type: 'input.accepted', input, parts: [], dialect: 'native' };
    case 'queued':
      return { ...base, type: 'input.accepted', input, parts: [], dialect: 'native', turn };
    case 'started':
      return { ...base, type: 'turn.started', turn, input, agent: AGENT };
    case 'joined':
      return { ...base, type: 'input.joined', turn: TurnId.parse('another'), input, own: turn };
    case 'asked':
      return {
        ...base,
        type: 'approval.requested',
        turn,
        call,
        approval,
        ask: { kind: 'other', command: ['ls'], description: 'Lists files.' },
        hash: 'hash',
      };
    case 'answered':
      return {
        ...base,
        type: 'approval.answered',
        turn,
        call,
        approval,
        answer: 'once',
        by: 'ada',
        dialect: 'native',
      };
    case 'ended':
      return { ...base, type: 'turn.ended', turn, usage, durationMs: 1, context: CONTEXT };
    case 'failed':
      return {
        ...base,
        type: 'turn.failed',
        turn,
        durationMs: 1,
        fault: { code: 'internal', message: 'No.' },
      };
    case 'cancelled':
      return { ...base, type: 'turn.cancelled', turn, reason: 'cancelled' };
    case 'said':
      return { ...base, type: 'session.renamed', title: name, by: 'ada' };
  }
}

async function happens(
  store: Store,
  ref: SessionRef,
  { steps, ...changes }: Partial<SessionRecord> & { readonly steps: readonly string[] },
): Promise<void> {
  const before = await store.head(ref);
  const events = steps.map((words, index) => eventOf(ref, words, before + index + 1));
  await store.append(before, events, recordOf(ref, before + events.length, changes));
  await store.search.update(EVERYTHING);
}

async function listed(store: Store, filter: Partial<TurnFilter> = {}, limit = 2): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.turns.list({ owner: ada, limit, cursor, ...filter });
    found.push(...page.turns.map(({ id, state }) => `${id} ${state}`));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  expect(await store.turns.count({ owner: ada, ...filter })).toBe(found.length);
  return found;
}

export function turnsContract(implementation: Implementation): void {
  test('turns have the state that their last event left them in, the one that changed last first', () =>
    withStore(implementation, async (store) => {
      const ref = refOf('ada', 'one');
      await happens(store, ref, { steps: ['a accepted', 'a started', 'b queued'] });
      expect(await listed(store)).toEqual(['b queued', 'a working']);
      await happens(store, ref, { steps: ['a asked', 'a asked'] });
      await happens(store, ref, { steps: ['a answered'] });
      expect(await listed(store)).toEqual(['a waiting', 'b queued']);
      await happens(store, ref, { steps: ['a answered'] });
      expect(await listed(store)).toEqual(['a working', 'b queued']);
      await happens(store, ref, { steps: ['a ended', 'b started'] });
      expect(await listed(store)).toEqual(['b working', 'a ended']);
      await happens(store, ref, { steps: ['b cancelled', 'c accepted', 'c started', 'c failed'] });
      expect(await listed(store)).toEqual(['c failed', 'b cancelled', 'a ended']);
      expect(await listed(store, { state: 'failed' })).toEqual(['c failed']);
      expect(await listed(store, { since: 1_008 })).toEqual(['c failed', 'b cancelled']);
      expect(await store.turns.find(ref, TurnId.parse('a'))).toEqual({
        ref,
        id: TurnId.parse('a'),
        state: 'ended',
        at: 1_008,
        first: 1,
        last: 8,
      });
      expect(await store.turns.find(ref, TurnId.parse('c'))).toMatchObject({ first: 11, last: 13 });
      expect(await store.turns.find(refOf('bob', 'one'), TurnId.parse('a'))).toBeNull();
    }));

  test('the own turn of an input that joins another has ended', () =>
    withStore(implementation, async (store) => {
      const ref = refOf('ada', 'one');
      await happens(store, ref, { steps: ['another accepted', 'another started', 'b queued'] });
      await happens(store, ref, { steps: ['b joined'] });
      expect(await listed(store)).toEqual(['b ended', 'another working']);
      expect(await store.turns.find(ref, TurnId.parse('b'))).toMatchObject({ first: 3, last: 4 });
    }));

  test('turns are of their owner, and not of archived, ephemeral or erased sessions', () =>
    withStore(implementation, async (store) => {
      const steps = (name: string) => [`${name} accepted`, `${name} started`, `${name} ended`];
      const [one, archived, gone] = ['one', 'archived', 'gone'].map((id) => refOf('ada', id));
      if (!one || !archived || !gone) throw new Error('no session');
      await happens(store, one, { steps: steps('mine') });
      await happens(store, refOf('bob', 'one'), { steps: steps('theirs') });
      await happens(store, archived, { steps: steps('old'), archived: true });
      await happens(store, refOf('ada', 'brief'), { steps: steps('brief'), ephemeral: true });
      await happens(store, gone, { steps: steps('erased') });
      await store.erase(gone);
      expect(await listed(store)).toEqual(['mine ended']);
      expect(await listed(store, { session: archived.id })).toEqual(['old ended']);
      expect(await listed(store, { session: gone.id })).toEqual([]);
      await happens(store, gone, { steps: steps('again') });
      expect(await listed(store, { session: gone.id })).toEqual(['again ended']);
    }));

  test('many turns of many sessions come page by page, each once', () =>
    withStore(implementation, async (store) => {
      const SESSIONS = 12;
      const TURNS = 9;
      // The input of the next turn is event number 200, the last one that is read at once.
      const BETWEEN = 180;
      for (let session = 0; session < SESSIONS; session++) {
        const steps = Array.from({ length: TURNS }, (_, turn) => {
          const name = `${session}-${turn}`;
          const noise = Array.from({ length: turn === 4 ? BETWEEN : 1 }, () => `${name} said`);
          return [
            `${name} accepted`,
            `${name} started`,
            ...noise,
            `${name} ${turn % 3 === 0 ? 'failed' : 'ended'}`,
          ];
        }).flat();
        await happens(store, refOf('ada', `session-${session}`), { steps });
      }
      const all = await listed(store, {}, 20);
      expect(new Set(all).size).toBe(SESSIONS * TURNS);
      expect(await listed(store, { state: 'failed' }, 20)).toHaveLength(SESSIONS * 3);
      const { turns } = await store.turns.list({ owner: ada, limit: 1_000 });
      for (const { ref, id, first } of turns.slice(0, 20)) {
        const [accepted] = await store.read(ref, first - 1, 1);
        expect(accepted).toMatchObject({ type: 'input.accepted', input: `input-${id}` });
      }
      expect(turns.map(({ at }) => at)).toEqual(turns.map(({ at }) => at).sort((x, y) => y - x));
      const wrong = store.turns.list({ owner: ada, limit: 2, cursor: 'nonsense' });
      expect(wrong).rejects.toMatchObject({ code: 'invalid' });
    }));
}
