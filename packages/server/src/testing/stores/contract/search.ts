import { expect, test } from 'bun:test';
import { type DurableEvent, InputId, PrincipalId, textPart } from '@parlance/protocol';
import type { SearchTerm, SessionRef } from '../../../core/ports/event-store.ts';

import type { Store } from '../../../stores/shared/store.ts';
import { recordOf, refOf } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

const ada = PrincipalId.parse('ada');
const EVERYTHING = 1_000_000;

const word = (...words: string[]): SearchTerm => ({ words, prefix: false });
const beginning = (...words: string[]): SearchTerm => ({ words, prefix: true });

type StoredMessage = { readonly seq: number; readonly text: string; readonly at: number };

function message(ref: SessionRef, { seq, text, at }: StoredMessage): DurableEvent {
  const parts = [textPart(text)];
  const input = InputId.parse(`i${seq}`);
  return { type: 'input.accepted', input, parts, dialect: 'native', session: ref.id, id: `e${seq}`, at, seq };
}

/** Appends a session with these messages, one per millisecond. */
async function says(
  store: Store,
  ref: SessionRef & { readonly from?: number },
  texts: readonly string[],
): Promise<void> {
  const { from = 1_000 } = ref;
  const events = texts.map((text, index) => message(ref, { seq: index + 1, text, at: from + index }));
  await store.append(0, events, recordOf({ owner: ref.owner, id: ref.id }, events.length));
}

const idsOf = (hits: readonly { ref: SessionRef; seq: number }[]) =>
  hits.map(({ ref, seq }) => `${ref.id}${seq}`);

async function found(store: Store, ...terms: SearchTerm[]): Promise<string[]> {
  await store.search.update(EVERYTHING);
  return idsOf((await store.search.find({ owner: ada, terms, limit: 100 })).hits);
}

export function searchContract(implementation: Implementation): void {
  test('messages with all words are found, the latest first', () =>
    withStore(implementation, async (store) => {
      await says(store, refOf('ada', 'b'), ['red house', 'blue house', 'a red, red car']);
      await says(store, { ...refOf('ada', 'a'), from: 500 }, ['The RED hóuse']);
      expect(await found(store, word('red'))).toEqual(['b3', 'b1', 'a1']);
      expect(await found(store, word('house'), word('red'))).toEqual(['b1', 'a1']);
      expect(await found(store, word('re'))).toEqual([]);
      expect(await found(store, beginning('hou'))).toEqual(['b2', 'b1', 'a1']);
      expect(await found(store, word('house', 'red'))).toEqual([]);
      expect(await found(store, word('red', 'car'))).toEqual(['b3']);
      expect(await found(store, beginning('red', 'c'))).toEqual(['b3']);
    }));

  test('messages of other owners and of ephemeral sessions are not found', () =>
    withStore(implementation, async (store) => {
      await says(store, refOf('bob', 'a'), ['secret']);
      await says(store, refOf('Ada', 'a'), ['secret']);
      const brief = refOf('ada', 'brief');
      await store.append(
        0,
        [message(brief, { seq: 1, text: 'secret', at: 1 })],
        recordOf(brief, 1, { ephemeral: true }),
      );
      expect(await found(store, word('secret'))).toEqual([]);
      await says(store, refOf('ada', 'a'), ['secret']);
      expect(await found(store, word('secret'))).toEqual(['a1']);
    }));

  test('an erased session is not found, even if its name is reused', () =>
    withStore(implementation, async (store) => {
      const [gone, kept] = [refOf('ada', 'gone'), refOf('ada', 'kept')];
      for (const ref of [gone, kept]) await says(store, ref, ['needle']);
      expect((await found(store, word('needle'))).sort()).toEqual(['gone1', 'kept1']);
      await store.erase(gone);
      expect(await found(store, word('needle'))).toEqual(['kept1']);
      await says(store, gone, ['haystack', 'needle']);
      expect((await found(store, word('needle'))).sort()).toEqual(['gone2', 'kept1']);
    }));

  test('pages do not overlap, even for messages with the same time', () =>
    withStore(implementation, async (store) => {
      for (const id of ['a', 'b', 'c'])
        await says(store, { ...refOf('ada', id), from: 7 }, ['same', 'same', 'same']);
      await store.search.update(EVERYTHING);
      const pages: string[][] = [];
      let cursor: string | undefined;
      do {
        const page = await store.search.find({ owner: ada, terms: [word('same')], limit: 4, cursor });
        pages.push(idsOf(page.hits));
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      expect(pages.map(({ length }) => length)).toEqual([4, 4, 1]);
      expect(new Set(pages.flat()).size).toBe(9);
    }));

  test('a cursor of another list is refused', () =>
    withStore(implementation, async (store) => {
      for (const cursor of ['', 'x', Buffer.from('1:1').toString('base64url')])
        await expect(
          store.search.find({ owner: ada, terms: [word('a')], limit: 1, cursor }),
        ).rejects.toMatchObject({ code: 'invalid' });
    }));

  test('the index is updated step by step, for one owner or all, also concurrently', () =>
    withStore(implementation, async (store) => {
      const texts = Array.from({ length: 450 }, (_, index) => `message ${index}`);
      await says(store, refOf('ada', 'long'), texts);
      await says(store, refOf('bob', 'other'), ['message']);
      await Promise.all([store.search.update(1, ada), store.search.update(1, ada)]);
      while (!(await store.search.update(1, ada)));
      expect(await store.search.update(1, ada)).toBe(true);
      const page = await store.search.find({ owner: ada, terms: [word('message')], limit: 1_000 });
      expect(page.hits.length).toBe(450);
      const bob = PrincipalId.parse('bob');
      await store.search.update(EVERYTHING);
      expect((await store.search.find({ owner: bob, terms: [word('message')], limit: 9 })).hits.length).toBe(
        1,
      );
    }));

  test('any text can be indexed', () =>
    withStore(implementation, async (store) => {
      const hostile = [
        '\0 \ud800 lone \\ \' " : & | ! <-> * ( ) found',
        'x'.repeat(5_000_000),
        'many '.repeat(60_000),
        '東京都',
      ];
      await says(store, refOf('ada', 'a'), hostile);
      expect(await found(store, word('found'))).toEqual(['a1']);
      expect(await found(store, word('many', 'many'))).toEqual(['a3']);
      expect(await found(store, beginning('東', '京'))).toEqual(['a4']);
    }));
}
