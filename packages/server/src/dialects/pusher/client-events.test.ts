import { afterEach, expect, test } from 'bun:test';
import type { AnyFrame } from '../../testing/client.ts';
import { type PusherTestServer, servePusher } from '../../testing/pusher.ts';
import type { Application } from './application.ts';
import type { Limits } from './limits.ts';

const running: PusherTestServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

function serve(limits: Partial<Limits> = {}, application: Partial<Application> = {}): PusherTestServer {
  const server = servePusher(limits, application);
  running.push(server);
  return server;
}

test('a client event reaches the other subscribers unchanged, and not its sender', async () => {
  const server = serve();
  const [one, two] = [await server.connect(), await server.connect()];
  for (const each of [one, two]) await each.subscribe('private-a');
  one.send('client-typing', { on: true }, 'private-a');
  expect(await one.settled()).toEqual([]);
  const frame: AnyFrame = await two.client.next((frame) => frame.event === 'client-typing');
  expect(frame as object).toEqual({ event: 'client-typing', channel: 'private-a', data: { on: true } });
});

test('client events require a subscription to a private or presence channel', async () => {
  const one = await serve().connect();
  for (const channel of ['a', 'private-encrypted-a']) await one.subscribe(channel);
  for (const channel of ['a', 'private-encrypted-a', 'private-b', undefined]) {
    one.send('client-typing', {}, channel);
    expect(await one.complaint()).toBe(4301);
  }
});

test('a client event has size limits: names of 200 characters, data of 10,240 bytes', async () => {
  const server = serve();
  const [one, two] = [await server.connect(), await server.connect()];
  for (const each of [one, two]) await each.subscribe('private-a');
  one.send('client-data', 'x'.repeat(10_240), 'private-a');
  await two.client.next((frame) => frame.event === 'client-data');
  one.send('client-data', 'x'.repeat(10_241), 'private-a');
  expect(await one.complaint()).toBe(4301);
  one.send('client-data', { text: 'é'.repeat(5_120) }, 'private-a');
  expect(await one.complaint()).toBe(4301);
  one.send(`client-${'x'.repeat(194)}`, {}, 'private-a');
  expect(await one.complaint()).toBe(4301);
  one.send(`client-${'x'.repeat(193)}`, {}, 'private-a');
  expect(await one.settled()).toEqual([]);
});

test('ten client events per second are accepted, the eleventh is not; a second later they are again', async () => {
  const server = serve();
  const one = await server.connect();
  await one.subscribe('private-a');
  for (let count = 0; count < 10; count++) one.send('client-a', {}, 'private-a');
  expect(await one.settled()).toEqual([]);
  server.clock.advance(999);
  one.send('client-a', {}, 'private-a');
  expect(await one.complaint()).toBe(4301);
  server.clock.advance(1);
  one.send('client-a', {}, 'private-a');
  expect(await one.settled()).toEqual([]);
});
