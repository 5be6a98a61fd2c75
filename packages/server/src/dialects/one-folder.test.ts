/** A dialect is a folder and one line in the list: everything else follows from its descriptor. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../testing/server.ts';
import { toy } from '../testing/toy/dialect.ts';
import { DIALECTS } from './index.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({}, { dialects: [...DIALECTS, toy], doors: [{ dialect: 'toy', port: 0 }] });
});
afterAll(() => server.stop());

const door = () => server.running.doors.find(({ dialect }) => dialect === 'toy')?.port;

async function said(url: string): Promise<unknown> {
  const socket = new WebSocket(url);
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  socket.onopen = () => socket.send(JSON.stringify({ type: 'say', session: 'toys', text: 'hello' }));
  socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)));
  socket.onclose = ({ code }) => reject(new Error(`closed with ${code}`));
  return promise.finally(() => socket.close());
}

test('it is served at its own path', async () => {
  expect(await said(`${server.ws}/toy`)).toEqual({ type: 'said', text: expect.any(String) });
});

test('it has an extra listener that serves it at every path', async () => {
  expect(await said(`ws://127.0.0.1:${door()}/anywhere`)).toMatchObject({ type: 'said' });
});

test('its HTTP route returns its settings, and unknown paths have its error format', async () => {
  expect(await (await fetch(`${server.http}/toy/steps`)).json()).toEqual({ steps: expect.any(Number) });
  const missing = await fetch(`${server.http}/toy/nothing`);
  expect(await missing.json()).toEqual({ toy: 'Not found', status: 404 });
  const foreign = await fetch(`${server.http}/toy/steps`, {
    headers: { origin: 'https://elsewhere.example' },
  });
  expect(await foreign.json()).toMatchObject({ status: 403 });
});

test('it is listed in the server information', async () => {
  const about = await (await fetch(`${server.http}/v1/server`)).json();
  expect(about).toMatchObject({
    toys: true,
    dialects: expect.arrayContaining([{ name: 'toy', sockets: ['/toy'] }]),
    doors: expect.arrayContaining([{ dialect: 'toy', port: door() }]),
  });
});

test('it is described in the OpenAPI and AsyncAPI documents of the server', async () => {
  const openApi = (await (await fetch(`${server.http}/openapi.json`)).json()) as { paths: object };
  expect(openApi.paths).toHaveProperty(['/toy/steps']);
  const asyncApi = (await (await fetch(`${server.http}/asyncapi.json`)).json()) as { channels: object };
  expect(Object.values(asyncApi.channels)).toContainEqual(expect.objectContaining({ address: '/toy' }));
});

test('an extra listener of an unknown dialect is refused', async () => {
  const start = startTestServer({}, { doors: [{ dialect: 'toy', port: 0 }] });
  await expect(start).rejects.toThrow('door toy=0 names no dialect that is served');
});
