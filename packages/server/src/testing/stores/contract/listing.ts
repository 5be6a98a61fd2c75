import { expect, test } from 'bun:test';
import { PrincipalId, SessionId } from '@parlance/protocol';
import type { SessionFilter, SessionQuery, SessionStore } from '../../../core/ports/event-store.ts';
import { begin, idsOf, recordOf, refOf, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

export function listingContract(implementation: Implementation): void {
  const ada = PrincipalId.parse('ada');

  test('sessions are listed by last change, latest first, and move up when they change', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('ada', 'old'), { updatedAt: 10 });
      await begin(store, refOf('ada', 'new'), { updatedAt: 30 });
      await begin(store, refOf('ada', 'middle'), { updatedAt: 20 });
      expect(idsOf((await store.list({ limit: 10 })).sessions)).toEqual(['new', 'middle', 'old']);
      const old = refOf('ada', 'old');
      await store.append(1, textEvents(old, 1, 1), recordOf(old, 2, { updatedAt: 40 }));
      expect(idsOf((await store.list({ limit: 10 })).sessions)).toEqual(['old', 'new', 'middle']);
    }));

  test('filters are combined with and', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('ada', 'a'), { updatedAt: 1, domain: 'shop', status: 'waiting' });
      await begin(store, refOf('ada', 'b'), { updatedAt: 2, domain: 'shop', status: 'running' });
      await begin(store, refOf('ada', 'c'), { updatedAt: 3, domain: 'home', status: 'waiting' });
      await begin(store, refOf('bob', 'd'), { updatedAt: 4, domain: 'shop', status: 'waiting' });
      await begin(store, refOf('bob', 'e'), { updatedAt: 5, domain: 'home', status: 'failed' });
      const idsFor = async (filter: SessionFilter) =>
        idsOf((await store.list({ ...filter, limit: 10 })).sessions).join('');
      expect(await idsFor({})).toBe('edcba');
      expect(await idsFor({ owner: ada })).toBe('cba');
      expect(await idsFor({ domain: 'shop' })).toBe('dba');
      expect(await idsFor({ status: ['waiting'] })).toBe('dca');
      expect(await idsFor({ status: ['running', 'failed'] })).toBe('eb');
      expect(await idsFor({ status: [] })).toBe('');
      expect(await idsFor({ owner: ada, domain: 'shop' })).toBe('ba');
      expect(await idsFor({ owner: ada, domain: 'shop', status: ['waiting', 'idle'] })).toBe('a');
      expect(await idsFor({ owner: PrincipalId.parse('nobody') })).toBe('');
    }));

  test('archived sessions are left out unless requested', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('ada', 'a'), { updatedAt: 1 });
      await begin(store, refOf('ada', 'b'), { updatedAt: 2, archived: true });
      const idsFor = async (filter: SessionFilter) =>
        idsOf((await store.list({ ...filter, limit: 10 })).sessions).join('');
      expect(await idsFor({})).toBe('a');
      expect(await idsFor({ archived: 'included' })).toBe('ba');
      expect(await idsFor({ archived: 'only' })).toBe('b');
      expect((await store.load(refOf('ada', 'b')))?.archived).toBe(true);
      const b = refOf('ada', 'b');
      await store.append(1, textEvents(b, 1, 1), recordOf(b, 2, { updatedAt: 3 }));
      expect(await idsFor({})).toBe('ba');
    }));

  test('pinned and tagged sessions are found, and tags are counted', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('ada', 'a'), { updatedAt: 1, pinned: true, tags: ['play', 'work'] });
      await begin(store, refOf('ada', 'b'), { updatedAt: 2, tags: ['work'] });
      await begin(store, refOf('ada', 'c'), { updatedAt: 3, tags: ['work'], archived: true });
      await begin(store, refOf('bob', 'd'), { updatedAt: 4, pinned: true, tags: ['"]%', 'work'] });
      const idsFor = async (filter: SessionFilter) =>
        idsOf((await store.list({ ...filter, limit: 10 })).sessions).join('');
      expect(await idsFor({ pinned: true })).toBe('da');
      expect(await idsFor({ pinned: true, owner: ada })).toBe('a');
      expect(await idsFor({ tag: 'work' })).toBe('dba');
      expect(await idsFor({ tag: 'work', owner: ada, archived: 'included' })).toBe('cba');
      expect(await idsFor({ tag: '"]%' })).toBe('d');
      for (const tag of ['wor', 'Work', '', '%', '[]']) expect(await idsFor({ tag })).toBe('');
      expect((await store.load(refOf('ada', 'a')))?.tags).toEqual(['play', 'work']);
      expect(await store.tags(ada)).toEqual([
        { tag: 'play', sessions: 1 },
        { tag: 'work', sessions: 2 },
      ]);
      expect(await store.tags(PrincipalId.parse('nobody'))).toEqual([]);
    }));

  test('sub-agents are left out unless requested', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('ada', 'a'), { updatedAt: 1 });
      await begin(store, refOf('ada', 'b'), { updatedAt: 2, parent: SessionId.parse('a') });
      await begin(store, refOf('bob', 'c'), { updatedAt: 3, parent: SessionId.parse('a') });
      const idsFor = async (more: SessionFilter) =>
        idsOf((await store.list({ limit: 9, owner: ada, ...more })).sessions).join('');
      expect(await idsFor({})).toBe('a');
      expect(await idsFor({ parent: 'included' })).toBe('ba');
      expect(await idsFor({ parent: SessionId.parse('a') })).toBe('b');
      expect(await store.count({ parent: 'included' })).toBe(3);
      expect((await store.load(refOf('ada', 'b')))?.parent).toBe(SessionId.parse('a'));
    }));

  test('ephemeral sessions are left out unless requested', () =>
    withStore(implementation, async (store) => {
      await begin(store, refOf('ada', 'a'), { updatedAt: 1 });
      await begin(store, refOf('ada', 'b'), { updatedAt: 2, ephemeral: true });
      await begin(store, refOf('ada', 'c'), { updatedAt: 3, ephemeral: true, archived: true });
      const idsFor = async (filter: SessionFilter) =>
        idsOf((await store.list({ ...filter, limit: 10 })).sessions).join('');
      expect(await idsFor({})).toBe('a');
      expect(await idsFor({ ephemeral: 'included' })).toBe('ba');
      expect(await idsFor({ ephemeral: 'only' })).toBe('b');
      expect(await idsFor({ ephemeral: 'only', archived: 'included' })).toBe('cb');
      expect(await store.count({})).toBe(1);
      expect(await store.count({ ephemeral: 'included', archived: 'included' })).toBe(3);
      expect((await store.load(refOf('ada', 'b')))?.ephemeral).toBe(true);
      expect((await store.findById(refOf('ada', 'b').id)).length).toBe(1);
    }));

  test('sessions are found by one label and keep all of their labels', () =>
    withStore(implementation, async (store) => {
      const odd = `it's "odd" \\ 你好`;
      await begin(store, refOf('ada', 'a'), { updatedAt: 1, labels: { site: 'one.org', url: 'two.org' } });
      await begin(store, refOf('ada', 'b'), { updatedAt: 2, labels: { site: 'two.org' } });
      await begin(store, refOf('ada', 'c'), { updatedAt: 3, labels: { site: odd } });
      await begin(store, refOf('ada', 'd'), { updatedAt: 4 });
      const idsFor = async (name: string, value: string) =>
        idsOf((await store.list({ label: { name, value }, limit: 10 })).sessions).join('');
      expect(await idsFor('site', 'two.org')).toBe('b');
      expect(await idsFor('url', 'two.org')).toBe('a');
      expect(await idsFor('site', odd)).toBe('c');
      expect(await idsFor('site', '')).toBe('');
      expect(await idsFor('constructor', 'two.org')).toBe('');
      expect((await store.load(refOf('ada', 'a')))?.labels).toEqual({ site: 'one.org', url: 'two.org' });
    }));

  test('sessions are found by the labels that they have now, however long, and counted', () =>
    withStore(implementation, async (store) => {
      const a = refOf('ada', 'a');
      const long = 'ä'.repeat(1_000);
      await begin(store, a, { labels: { site: 'one.org', long: `${long}1` } });
      await begin(store, refOf('ada', 'b'), { labels: { long: `${long}2` } });
      const found = async (name: string, value: string) => {
        const filter = { label: { name, value } };
        const ids = idsOf((await store.list({ ...filter, limit: 10 })).sessions);
        expect(await store.count(filter)).toBe(ids.length);
        return ids.join('');
      };
      expect([await found('long', `${long}1`), await found('long', `${long}2`)]).toEqual(['a', 'b']);
      const labels = { site: 'two.org', '@key': 'unique' };
      const labelled = { ...textEvents(a, 1, 1)[0], type: 'session.labelled', labels } as never;
      await store.append(1, [labelled], recordOf(a, 2, { labels }));
      expect([await found('site', 'one.org'), await found('site', 'two.org')]).toEqual(['', 'a']);
      expect([await found('@key', 'unique'), await found('long', `${long}1`)]).toEqual(['a', '']);
      await store.erase(a);
      expect(await found('site', 'two.org')).toBe('');
    }));

  test('sessions are counted, and a list can skip some', () =>
    withStore(implementation, async (store) => {
      for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
        await begin(store, refOf('ada', id), { updatedAt: index, messageCount: index, archived: id === 'd' });
      }
      await begin(store, refOf('bob', 'e'), { updatedAt: 9 });
      expect(await store.count({})).toBe(4);
      expect(await store.count({ owner: ada })).toBe(3);
      expect(await store.count({ owner: ada, archived: 'included' })).toBe(4);
      expect(await store.count({ owner: ada, status: ['failed'] })).toBe(0);
      const { sessions, next } = await store.list({ owner: ada, limit: 1, offset: 1 });
      expect(sessions.map(({ ref, messageCount }) => [ref.id as string, messageCount])).toEqual([['b', 1]]);
      const rest = await store.list({ owner: ada, limit: 5, cursor: next ?? '' });
      expect(idsOf(rest.sessions)).toEqual(['a']);
      expect((await store.list({ owner: ada, limit: 5, offset: 3 })).sessions).toEqual([]);
    }));

  test('pages respect the limit, do not overlap and are complete, even if many sessions changed at the same time', () =>
    withStore(implementation, async (store) => {
      const ids = Array.from({ length: 23 }, (_, index) => `s${index}`);
      for (const [index, id] of ids.entries()) {
        await begin(store, refOf('ada', id), { updatedAt: 100 + Math.floor(index / 6), status: 'waiting' });
        await begin(store, refOf('bob', id), { updatedAt: 100 + Math.floor(index / 6) });
      }
      for (const limit of [1, 4, 22, 23, 24]) {
        const pages = await everyPage(store, { owner: ada, limit });
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
        expect(pages.length).toBe(Math.ceil(23 / limit));
        expect(pages.flat().sort()).toEqual(ids.toSorted());
      }
      const everyone = await everyPage(store, { limit: 5 });
      expect(everyone.flat().sort()).toEqual([...ids, ...ids].sort());
      const waiting = await everyPage(store, { status: ['waiting', 'running'], limit: 5 });
      expect(waiting.flat().sort()).toEqual(ids.toSorted());
    }));

  test('a new or changed session does not make others appear twice or disappear while paging', () =>
    withStore(implementation, async (store) => {
      for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
        await begin(store, refOf('ada', id), { updatedAt: index });
      }
      const first = await store.list({ limit: 2 });
      await begin(store, refOf('ada', 'e'), { updatedAt: 50 });
      const second = await store.list({ limit: 2, cursor: first.next ?? '' });
      expect([idsOf(first.sessions), idsOf(second.sessions)]).toEqual([
        ['d', 'c'],
        ['b', 'a'],
      ]);
      expect(second.next).toBeNull();
    }));

  test('a foreign cursor is refused as invalid', () =>
    withStore(implementation, async (store) => {
      for (const cursor of ['', 'nonsense', '!', Buffer.from('1:2:3').toString('base64url')]) {
        const refused = store.list({ limit: 1, cursor });
        await expect(refused).rejects.toMatchObject({ name: 'Fault', code: 'invalid' });
      }
    }));
}

async function everyPage(store: SessionStore, filter: SessionQuery): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ ...filter, cursor });
    pages.push(idsOf(page.sessions));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return pages;
}
