import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../server/src/testing/server.ts';
import { connect, type Parlance } from './connect.ts';
import { proxyTo, type TestProxy } from './testing/proxy.ts';
import { Reader } from './testing/reader.ts';
import { EMPTY, foldAll } from './view.ts';

let server: TestServer;
let proxy: TestProxy;
let parlance: Parlance;
beforeAll(async () => {
  server = await startTestServer();
  proxy = await proxyTo(server.running.port);
  parlance = connect({ url: proxy.url, backoff: { baseMs: 1, maxMs: 5 } });
});
afterAll(async () => {
  await proxy.stop();
  await server.stop();
});

describe('activity', () => {
  test('yields events of all sessions without deltas, and `ready` after each reconnect', async () => {
    const seen: string[] = [];
    let readies = 0;
    for await (const event of parlance.activity()) {
      if (event.type === 'ready' && ++readies === 1) await parlance.session('one').submit('Hello');
      else if (event.type === 'ready') await parlance.session('two').submit('Hello');
      if (
        event.type === 'ready' ||
        event.type === 'missed' ||
        event.type === 'settings.changed' ||
        event.type === 'mcp.changed'
      )
        continue;
      seen.push(`${event.session} ${event.type}`);
      expect(event.owner).toBe('local');
      if (event.type === 'turn.ended' && (event.session as string) === 'two') break;
      if (event.type === 'turn.ended') proxy.cut();
    }
    expect(readies).toBe(2);
    expect(seen).toContain('one turn.ended');
    expect(seen).toContain('two turn.ended');
    expect(seen.filter((each) => each.endsWith('.delta'))).toEqual([]);
  });
});

describe('frames', () => {
  test("are the messages on the session's sockets, in both directions", async () => {
    await parlance.session('looked-at').create();
    const client = await server.connect('/agentloop?session=looked-at');
    const seen: string[] = [];
    for await (const event of parlance.session('looked-at').frames()) {
      // A socket is open before it is attached.
      if (event.type === 'attached' && event.dialects.agentloop === 1) {
        const content = [{ type: 'input_text', text: 'Hello' }];
        const input = [{ type: 'message', role: 'user', content }];
        client.send({ id: 'm1', type: 'user_input', payload: { input } });
      }
      if (event.type !== 'frame') continue;
      seen.push(`${event.dialect} ${event.direction}`);
      if (event.text.includes('agent_finished')) break;
    }
    expect(seen[0]).toBe('agentloop in');
    expect(seen.at(-1)).toBe('agentloop out');
  });
});

describe('sessions', () => {
  test('are found by title, by status and in the archive', async () => {
    await parlance.session('shelf').create({ title: 'On the shelf' });
    const found = async (page: Parameters<Parlance['sessions']['list']>[0]) =>
      (await parlance.sessions.list(page)).sessions.map(({ id }) => id as string);
    expect(await found({ q: 'the shelf' })).toEqual(['shelf']);
    expect(await found({ q: 'the shelf', status: 'running' })).toEqual([]);
    await parlance.session('shelf').archive();
    expect(await found({ q: 'the shelf' })).toEqual([]);
    expect(await found({ archived: 'only' })).toEqual(['shelf']);
  });

  test('are exported with all their events', async () => {
    const session = parlance.session('taken-along');
    await session.create({ title: 'Taken along' });
    const lines = (await (await session.export()).text()).trim().split('\n');
    for (const { id } of (await session.historyPage()).events)
      expect(lines.some((line) => line.includes(id))).toBe(true);
    const missing = await parlance
      .session('nowhere')
      .export()
      .catch((error) => error);
    expect(missing).toMatchObject({ code: 'not_found', status: 404 });
  });

  test('that are erased disappear, also for watchers', async () => {
    const session = parlance.session('gone');
    await session.create();
    const reader = new Reader((options) => session.events(options));
    await reader.event('snapshot');
    await session.erase();
    expect(await reader.event('session.erased')).toMatchObject({ by: 'local' });
    expect(foldAll(EMPTY, reader.events)).toMatchObject({ erasedBy: 'local', created: null, seq: 0 });
    expect(await session.get().catch((error) => error)).toMatchObject({ code: 'not_found' });
    await session.create({ title: 'Another' });
    await reader.event('session.renamed');
    expect(foldAll(EMPTY, reader.events)).toMatchObject({ erasedBy: null, title: 'Another', seq: 2 });
    await reader.stop();
  });
});
