import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { SOCKET_LIMITS } from '../testing/echo.ts';
import { until } from '../testing/until.ts';
import { ByteBudget } from './byte-budget.ts';
import { mayStaySilent } from './idle-connections.ts';
import { listen } from './listener.ts';
import { socketTransport } from './websocket.ts';

const ignore = () => undefined;
const SOCKETS = socketTransport(SOCKET_LIMITS, {
  log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  anonymous: new ByteBudget(1_000_000),
});

test('an unexpected error in a route is logged and not revealed', async () => {
  const logged: object[] = [];
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    sockets: SOCKETS,
    admit: () => null,
    opening: async () => {
      throw new Error('a bug in opening');
    },
    routes: () => {
      throw new Error('a bug in a route');
    },
    log: { debug: ignore, info: ignore, warn: ignore, error: (data) => void logged.push(data) },
  });
  const address = `http://127.0.0.1:${server.port}/`;
  const upgrade: Record<string, string> = { upgrade: 'websocket', connection: 'upgrade' };
  for (const headers of [{}, upgrade]) {
    const response = await fetch(address, { headers });
    expect(response.status).toBe(500);
    const words = 'Something went wrong.';
    expect(await response.json()).toEqual({ error: words, detail: words });
  }
  expect(logged).toMatchObject([
    { err: { message: 'a bug in a route' } },
    { err: { message: 'a bug in opening' } },
  ]);
  await server.stop(true);
});

test('a client that does not read its response is disconnected, also if the request could take long', async () => {
  const sent = Promise.withResolvers<Request>();
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    sockets: SOCKETS,
    admit: () => null,
    opening: async () => null,
    routes: (request) => {
      mayStaySilent(request);
      sent.resolve(request);
      return new Response('x'.repeat(20_000_000));
    },
    idleSeconds: 1,
  });
  const client = connect(Number(server.port), '127.0.0.1').pause();
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await sent.promise;
  await until(() => server.pendingRequests === 0);
  client.destroy();
  await server.stop(true);
});
