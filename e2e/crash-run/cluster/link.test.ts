import { afterEach, beforeEach, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { until } from '../../../packages/server/src/testing/until.ts';
import { type Link, openLink } from './link.ts';

let echo: Server;
let link: Link;

beforeEach(async () => {
  echo = createServer((socket) => socket.pipe(socket).on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const address = echo.address();
  const port = address && typeof address === 'object' ? address.port : 0;
  link = await openLink('redis://127.0.0.1:1', () => port);
});
afterEach(() => {
  link.close();
  echo.close();
});

async function opened() {
  const socket = connect(Number(new URL(link.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, received: () => received };
}

test('a link that was cut delivers late what was sent meanwhile, also on new connections', async () => {
  const before = await opened();
  before.socket.write('a');
  await until(() => before.received() === 'a');
  link.cut();
  before.socket.write('b');
  const meanwhile = await opened();
  meanwhile.socket.write('c');
  await Bun.sleep(50);
  expect([before.received(), meanwhile.received()]).toEqual(['a', '']);
  link.heal('late');
  await until(() => before.received() === 'ab' && meanwhile.received() === 'c');
});

test('a link that is reset closes its connections, and accepts new ones', async () => {
  const before = await opened();
  link.cut();
  before.socket.write('b');
  const closed = new Promise((resolve) => before.socket.once('close', resolve));
  link.heal('reset');
  await closed;
  expect(before.received()).toBe('');
  const after = await opened();
  after.socket.write('c');
  await until(() => after.received() === 'c');
});
