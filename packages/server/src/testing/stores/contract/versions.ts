import { expect, test } from 'bun:test';
import { type EventUpcast, eventVersion } from '@parlance/protocol';
import { begin, recordOf, refOf, textEvent, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

/** A version that changes texts. */
const ADD_EXCLAMATION: EventUpcast = { 'text.ended': (event) => ({ ...event, text: `${event.text}!` }) };

export function versionsContract(implementation: Implementation): void {
  const ref = refOf('ada', 'first');

  test('events of older versions are upcast when read, beside events of the current version', async () => {
    const upcasts: EventUpcast[] = [{}, {}, {}];
    await withStore(
      implementation,
      async (store) => {
        await begin(store, ref);
        upcasts[0] = ADD_EXCLAMATION;
        await store.append(1, textEvents(ref, 1, 1), recordOf(ref, 2));
        upcasts[1] = ADD_EXCLAMATION;
        await store.append(2, textEvents(ref, 2, 1), recordOf(ref, 3));
        expect(await store.read(ref, 0, 10)).toEqual([
          textEvent(ref, 1, 'text 1!!'),
          textEvent(ref, 2, 'text 2!'),
          textEvent(ref, 3, 'text 3'),
        ]);
      },
      { upcasts },
    );
  });

  test('an event of a newer version is refused with its session, type and version; earlier events are read', async () => {
    // As many as the database of this version expects.
    const newest = eventVersion();
    const upcasts: EventUpcast[] = Array.from({ length: newest - 1 }, () => ({}));
    await withStore(
      implementation,
      async (store) => {
        await begin(store, ref);
        upcasts[newest - 2] = ADD_EXCLAMATION;
        await store.append(1, textEvents(ref, 1, 1), recordOf(ref, 2));
        upcasts.pop();
        expect(await store.read(ref, 0, 1)).toEqual([textEvent(ref, 1)]);
        await expect(store.read(ref, 0, 10)).rejects.toMatchObject({
          code: 'storage_unavailable',
          message: `Event 2 (text.ended) of session first has schema version ${newest}, which a newer version of Parlance wrote: this one reads up to ${newest - 1}.`,
        });
      },
      { upcasts },
    );
  });
}
