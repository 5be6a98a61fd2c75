import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, type Parlance } from '@parlance/sdk';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let parlance: Parlance;
beforeAll(async () => {
  server = await startTestServer();
  parlance = connect({ url: server.http });
});
afterAll(() => server.stop());

const idsOf = async (page: Parameters<Parlance['sessions']['list']>[0]) =>
  (await parlance.sessions.list(page)).sessions.map(({ id }): string => id);

describe('a session', () => {
  test('is archived and restored, and keeps its place in the list', async () => {
    for (const id of ['older', 'newer']) await parlance.session(id).create();
    const older = parlance.session('older');
    const { updatedAt } = await older.get();
    await older.archive();
    expect(await idsOf({})).toEqual(['newer']);
    expect((await older.unarchive()).facts.map(({ type }) => type)).toEqual(['session.unarchived']);
    expect((await older.unarchive()).facts).toEqual([]);
    expect(await idsOf({})).toEqual(['newer', 'older']);
    expect(await older.get()).toMatchObject({ archived: false, updatedAt });
  });

  test('is pinned and unpinned', async () => {
    const pinned = parlance.session('pinned');
    await pinned.create();
    await pinned.pin();
    expect((await pinned.pin()).facts).toEqual([]);
    expect(await idsOf({ pinned: 'only' })).toEqual(['pinned']);
    await pinned.pin(false);
    expect(await idsOf({ pinned: 'only' })).toEqual([]);
    expect((await pinned.get()).pinned).toBeUndefined();
  });

  test('has tags, sorted and without repetitions', async () => {
    const tagged = parlance.session('tagged');
    await tagged.create();
    await tagged.tag(['work', ' Berlin ', 'WORK']);
    expect((await tagged.get()).tags).toEqual(['Berlin', 'work']);
    expect((await tagged.tag(['work', 'Berlin'])).facts).toEqual([]);
    expect(await idsOf({ tag: 'Berlin' })).toEqual(['tagged']);
    expect(await parlance.sessions.tags()).toEqual([
      { tag: 'Berlin', sessions: 1 },
      { tag: 'work', sessions: 1 },
    ]);
    await expect(tagged.tag([' '])).rejects.toThrow('tags.0');
    await expect(tagged.tag(Array.from({ length: 21 }, String))).rejects.toThrow('tags');
    await tagged.tag([]);
    expect(await parlance.sessions.tags()).toEqual([]);
  });

  test('that does not exist cannot be changed', async () => {
    const nothing = parlance.session('nothing');
    for (const change of [() => nothing.unarchive(), () => nothing.pin(), () => nothing.tag(['a'])])
      await expect(change()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('keeps its title when its context is cleared', async () => {
    const cleared = parlance.session('cleared');
    await cleared.submit('hello');
    for await (const { type } of cleared.events()) if (type === 'turn.ended') break;
    await cleared.clear();
    await cleared.submit('something else');
    expect((await cleared.get()).title).toBe('hello');
  });
});
