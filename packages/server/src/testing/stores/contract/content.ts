/** Round trips of arbitrary text from clients and models. */
import { expect, test } from 'bun:test';
import { begin, recordOf, refOf, textEvent } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

const TEXTS = {
  'the empty text': '',
  'many scripts': 'grüße, 你好, שלום, ไทย, e\u0301, 👩‍👩‍👧, \u{10ffff}',
  'quotes and SQL': `'; DROP TABLE events; -- " \` \\ $1 ? :name`,
  'control characters': 'a\0b\u0001\u001f\u007f\u2028\r\n\t',
  'lone surrogates': 'high \ud83d, low \ude00, turned around \ude00\ud83d',
};

export function contentContract(implementation: Implementation): void {
  const ref = refOf('ada', 'first');

  for (const [name, text] of Object.entries(TEXTS)) {
    test(`an event preserves ${name} exactly`, () =>
      withStore(implementation, async (store) => {
        await store.append(0, [textEvent(ref, 1, text)], recordOf(ref, 1));
        expect(await store.read(ref, 0, 1)).toEqual([textEvent(ref, 1, text)]);
      }));

    test(`a record preserves ${name}, with U+FFFD for invalid Unicode`, () =>
      withStore(implementation, async (store) => {
        const kept = text.toWellFormed().replaceAll('\0', '\ufffd');
        const given = { title: text, dialect: text, domain: text, agent: text };
        const checkpoint = { version: 1, seq: 1, state: text };
        await begin(store, ref, { ...given, checkpoint });
        const expected = recordOf(ref, 1, {
          title: kept,
          dialect: kept,
          domain: kept,
          agent: kept,
          checkpoint: { ...checkpoint, state: kept },
        });
        expect(await store.load(ref)).toEqual(expected);
        expect((await store.list({ domain: text, limit: 1 })).sessions).toEqual([expected]);
      }));
  }

  test('a session is found by the id it was created with', () =>
    withStore(implementation, async (store) => {
      for (const id of ['你好 👋', "it's", '50%_', 'a/b']) {
        const odd = refOf(`owner ${id}`, id);
        await begin(store, odd);
        expect(await store.read(odd, 0, 1)).toEqual([textEvent(odd, 1)]);
        expect((await store.load(odd))?.ref).toEqual(odd);
        expect((await store.findById(odd.id)).length).toBe(1);
        expect((await store.list({ owner: odd.owner, limit: 2 })).sessions.length).toBe(1);
      }
    }));

  test('an event of many megabytes is stored completely, between small ones', () =>
    withStore(implementation, async (store) => {
      const large = 'large \u{1f600} '.repeat(1_000_000);
      const events = [textEvent(ref, 1), textEvent(ref, 2, large), textEvent(ref, 3)];
      await store.append(0, events, recordOf(ref, 3));
      const read = await store.read(ref, 0, 10);
      // compared with ===, so that a failure does not print megabytes
      expect(Bun.deepEquals(read, events)).toBe(true);
    }));
}
