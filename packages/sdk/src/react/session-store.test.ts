import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../../server/src/testing/server.ts';
import { until } from '../../../server/src/testing/until.ts';
import { connect } from '../connect.ts';
import { sessionStore } from './session-store.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test('components share one connection, which ends with the last of them', async () => {
  const client = connect({ url: server.http });
  const session = client.session('shared');
  await session.ask('count to 3');
  const store = sessionStore(client, 'shared');
  expect(sessionStore(client, 'shared')).toBe(store);
  expect(sessionStore(client, 'other')).not.toBe(store);
  expect(sessionStore(connect({ url: server.http }), 'shared')).not.toBe(store);

  const live = Promise.withResolvers<void>();
  const listener = () => store.connection().status === 'live' && live.resolve();
  const leaveFirst = store.subscribe(listener);
  const leaveSecond = store.subscribe(listener);
  await live.promise;
  expect(store.view().title).toBe('count to 3');
  expect((await session.get()).attached).toEqual({ native: 1 });
  leaveFirst();
  expect((await session.get()).attached).toEqual({ native: 1 });
  leaveSecond();
  await until(async () => ((await session.get()).attached.native ?? 0) <= 0);

  // As StrictMode does: the view is still there, and continues.
  const again = Promise.withResolvers<void>();
  const leave = store.subscribe(() => store.view().entries.length === 2 && again.resolve());
  expect(store.view().title).toBe('count to 3');
  expect(sessionStore(client, 'shared')).toBe(store);
  await session.ask('count to 4');
  await again.promise;
  leave();
});
