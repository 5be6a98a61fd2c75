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

async function talk(to: Parlance, id: string, text: string): Promise<void> {
  const session = to.session(id);
  const { seq } = await session.submit(text);
  for await (const { type } of session.events({ after: seq })) if (type === 'turn.ended') return;
}

const found = async (q: string, by = parlance) =>
  (await by.sessions.search(q)).messages.map(({ session, from }) => `${session} ${from}`);

describe('a search', () => {
  test('finds messages of the user and the agent, with the matching excerpt', async () => {
    await talk(parlance, 'first', 'count to 3');
    await talk(parlance, 'animals', 'a zebra, please');
    await talk(parlance, 'second', 'hello');
    const { messages, complete, next } = await parlance.sessions.search('ZEBRA');
    expect({ complete, next }).toEqual({ complete: true, next: null });
    expect(messages).toMatchObject([
      { session: 'animals', from: 'agent' },
      { session: 'animals', from: 'user', seq: 2, archived: false },
    ]);
    expect(messages[0]?.excerpt).toContainEqual({ text: 'zebra', match: true });
    expect(await found('"1, 2, 3"')).toEqual(['first agent']);
    expect(await found('zeb please')).toEqual([]);
    expect(await found('please wrote zeb')).toEqual(['animals agent']);
  });

  test('covers only the caller’s own sessions, even for an admin', async () => {
    const [uma, admin] = await Promise.all(
      ['uma', 'ada'].map(async (name) =>
        connect({ url: server.http, token: await server.login(name, `${name}-password`) }),
      ),
    );
    if (!uma || !admin) throw new Error('login failed');
    await talk(uma, 'private', 'my secret giraffe');
    expect(await found('giraffe', uma)).toEqual(['private agent', 'private user']);
    expect(await found('giraffe')).toEqual([]);
    expect(await found('giraffe', admin)).toEqual([]);
  });

  test('does not find erased sessions', async () => {
    await talk(parlance, 'gone', 'an okapi');
    expect(await found('okapi')).toEqual(['gone agent', 'gone user']);
    await parlance.session('gone').erase();
    expect(await found('okapi')).toEqual([]);
  });

  test('has pages', async () => {
    for (const id of ['a', 'b', 'c']) await talk(parlance, id, 'a quagga');
    const first = await parlance.sessions.search('quagga', { limit: 4 });
    const second = await parlance.sessions.search('quagga', { limit: 4, cursor: first.next ?? '' });
    expect([first.messages.length, second.messages.length, second.next]).toEqual([4, 2, null]);
    const sessions = [...first.messages, ...second.messages].map(({ session }): string => session);
    expect(sessions.sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  });

  test('accepts any text as a query', async () => {
    for (const q of [
      '*',
      '"',
      'a" OR "b',
      'words:x',
      'owner:x AND y',
      'NEAR(a b)',
      "x' OR 1=1 --",
      '-a',
      '^',
      '(',
      '\\',
      '\0',
      '%_',
      ':*',
      '<->',
    ])
      expect(await found(q)).toBeArray();
    for (const q of ['', ' ', 'x'.repeat(201)])
      await expect(parlance.sessions.search(q)).rejects.toMatchObject({ code: 'invalid' });
    await expect(parlance.sessions.search('a', { cursor: 'x' })).rejects.toMatchObject({ code: 'invalid' });
  });
});
