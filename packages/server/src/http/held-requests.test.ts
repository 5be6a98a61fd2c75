/** Long-lived connections do not retain their requests (docs/decisions/0008). */
import { fullGC, heapStats } from 'bun:jsc';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../testing/server.ts';

const OPEN = 60;
/** The garbage collector scans the stack conservatively: a few requests may seem to be in use. */
const FEW = OPEN / 3;

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('uma', 'uma-password');
});
afterAll(() => server.stop());

const requests = (): number => {
  fullGC();
  return heapStats().objectTypeCounts.Request ?? 0;
};

for (const path of ['/conversations', '/agentloop', '/']) {
  test(`sockets at ${path} do not retain their requests`, async () => {
    const before = requests();
    const headers = { authorization: `Bearer ${token}` };
    await Promise.all(Array.from({ length: OPEN }, () => server.connect(path, headers)));
    expect(requests() - before).toBeLessThan(FEW);
  });
}

test('event streams do not retain their requests', async () => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const session = `${server.http}/v1/sessions/kept`;
  const body = JSON.stringify({ type: 'session.create' });
  expect((await fetch(`${session}/commands`, { method: 'POST', headers, body })).status).toBe(200);
  const before = requests();
  const stop = new AbortController();
  const accept = { ...headers, accept: 'text/event-stream' };
  const streams = await Promise.all(
    Array.from({ length: OPEN }, () => fetch(`${session}/events`, { headers: accept, signal: stop.signal })),
  );
  // The first event has been read, so the response has started.
  for (const stream of streams) await stream.body?.getReader().read();
  expect(requests() - before).toBeLessThan(FEW);
  stop.abort();
});
