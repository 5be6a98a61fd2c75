import { expect, test } from 'bun:test';
import type { ActivityEvent, Parlance, Session } from '@parlance/sdk';
import { type Filter, SessionPages } from './sessions.ts';

const session = (id: string, changes: Partial<Session> = {}) =>
  ({
    id,
    owner: 'local',
    title: id,
    head: 1,
    archived: false,
    attached: {},
    updatedAt: at(1),
    ...changes,
  }) as Session;
const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const happened = (type: string, id: string, rest: object = {}) =>
  ({ type, session: id, owner: 'local', seq: 2, at: Date.parse(at(30)), ...rest }) as never as ActivityEvent;

/** A list whose responses are released one at a time; each has the sessions of when it was requested. */
function listOf(sessions: Map<string, Session>, filter: Filter, pageSize = 100) {
  const held: (() => void)[] = [];
  const requests: string[] = [];
  const respond = <Response>(request: string, response: Response) => {
    requests.push(request);
    return new Promise<Response>((resolve) => held.push(() => resolve(response)));
  };
  const client = {
    sessions: {
      list({ cursor = '0' }: { cursor?: string }) {
        const all = [...sessions.values()];
        const end = Number(cursor) + pageSize;
        return respond('list', {
          sessions: all.slice(Number(cursor), end),
          next: end < all.length ? String(end) : null,
        });
      },
    },
    session: (id: string) => ({ get: () => respond(id, sessions.get(id) ?? null) }),
  } as unknown as Pick<Parlance, 'sessions' | 'session'>;
  const pages = new SessionPages(client, filter);
  return {
    pages,
    requests,
    ids: () => pages.get().sessions.map(({ id }) => id as string),
    async release() {
      await Bun.sleep(0);
      held.shift()?.();
      await Bun.sleep(0);
    },
  };
}

const store = (...sessions: Session[]) => new Map(sessions.map((one) => [one.id as string, one]));
const ALL: Filter = { query: '', archived: false };

test('a session that is deleted while a page is read does not come back with it', async () => {
  const list = listOf(store(session('a'), session('b'), session('c')), ALL, 2);
  list.pages.read();
  await list.release();
  list.pages.more();
  await Bun.sleep(0);
  list.pages.happened(happened('session.erased', 'c'));
  list.pages.happened(happened('session.archived', 'a'));
  await list.release();
  expect(list.ids()).toEqual(['b']);
});

test('what happens while the list is read again wins over the older response', async () => {
  const list = listOf(store(session('a'), session('b')), ALL);
  list.pages.read();
  await list.release();
  list.pages.read();
  await Bun.sleep(0);
  list.pages.happened(happened('session.renamed', 'b', { title: 'new' }));
  list.pages.happened(happened('session.attached', 'a', { attached: { acp: 1 } }));
  await list.release();
  expect(list.pages.get().sessions.map(({ title, attached }) => [title, attached])).toEqual([
    ['new', {}],
    ['a', { acp: 1 }],
  ]);
});

test('a session that is renamed enters and leaves a search', async () => {
  const sessions = store(session('a', { title: 'needle' }));
  const list = listOf(sessions, { query: 'Needle', archived: false });
  list.pages.read();
  await list.release();
  list.pages.happened(happened('session.renamed', 'a', { title: 'hay' }));
  expect(list.ids()).toEqual([]);
  sessions.set('b', session('b', { title: 'another needle', head: 2 }));
  list.pages.happened(happened('session.renamed', 'b', { title: 'another needle' }));
  await list.release();
  expect(list.ids()).toEqual(['b']);
});

test('a change of a listed session needs no request', async () => {
  const list = listOf(store(session('a')), ALL);
  list.pages.read();
  await list.release();
  list.pages.happened(happened('session.renamed', 'a', { title: 'new' }));
  await list.release();
  expect(list.requests).toEqual(['list']);
  expect(list.pages.get().sessions[0]?.title).toBe('new');
});

test('a list without pinned sessions leaves them out of every page', async () => {
  const list = listOf(store(session('a'), session('b', { pinned: true }), session('c', { pinned: true })), {
    ...ALL,
    pinned: 'without',
  });
  list.pages.read();
  await list.release();
  expect(list.ids()).toEqual(['a']);
  list.pages.happened(happened('session.pinned', 'a', { pinned: true }));
  expect(list.ids()).toEqual([]);
});

/** A list of which all sessions are loaded; the last one is the oldest. */
async function loaded(count: number) {
  const sessions = store(
    ...Array.from({ length: count }, (_, index) =>
      session(`s${index}`, { updatedAt: new Date(Date.UTC(2026, 0, 1) - index * 1_000).toISOString() }),
    ),
  );
  const list = listOf(sessions, ALL);
  list.pages.read();
  await list.release();
  while (list.pages.get().hasMore) {
    list.pages.more();
    await list.release();
  }
  return { sessions, list };
}

test('after a gap, a long list stays as long as it was, and is read again part by part', async () => {
  const { sessions, list } = await loaded(1_500);
  const before = list.ids();
  expect(before).toHaveLength(1_500);
  for (const gone of ['s3', 's1200', 's1499']) sessions.delete(gone);
  list.pages.read();
  for (let page = 0; page < 10; page++) await list.release();
  expect(list.ids()).toEqual(before.filter((id) => id !== 's3'));
  for (let page = 0; page < 5; page++) await list.release();
  expect(list.ids()).toEqual(before.filter((id) => sessions.has(id)));
  expect(list.pages.get().hasMore).toBe(false);
});

test('after a gap, no more is read again than was loaded', async () => {
  const { sessions, list } = await loaded(200);
  for (let index = 200; index < 1_000; index++)
    sessions.set(`s${index}`, session(`s${index}`, { updatedAt: '2020-01-01T00:00:00.000Z' }));
  list.requests.length = 0;
  list.pages.read();
  for (let page = 0; page < 10; page++) await list.release();
  expect(list.requests).toHaveLength(2);
  expect(list.ids()).toHaveLength(200);
  expect(list.pages.get().hasMore).toBe(true);
});

test('a second gap begins again', async () => {
  const { sessions, list } = await loaded(1_500);
  list.pages.read();
  for (let page = 0; page < 10; page++) await list.release();
  sessions.delete('s1');
  list.pages.read();
  for (let page = 0; page < 20; page++) await list.release();
  expect(list.ids()).toEqual([...sessions.keys()]);
});

test('a session that moves to the top while pages are read stays in the list', async () => {
  const { sessions, list } = await loaded(300);
  list.pages.read();
  await Bun.sleep(0);
  // It would be on the second page, and is now on the first one, which has been requested.
  const moved = session('s150', { head: 2, updatedAt: at(30) });
  sessions.delete('s150');
  const others = [...sessions];
  sessions.clear();
  for (const [id, one] of [['s150', moved] as const, ...others]) sessions.set(id, one);
  list.pages.happened(happened('turn.started', 's150'));
  for (let page = 0; page < 5; page++) await list.release();
  expect(list.ids()).toHaveLength(300);
  expect(list.ids()[0]).toBe('s150');
});
