/** A dialect is a folder and one line in the list: everything else is derived from its descriptor. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { connect } from '../packages/sdk/src/index.ts';
import { descriptionsOf } from '../packages/server/src/describe/descriptions.ts';
import { referenceTables } from '../packages/server/src/describe/markdown.ts';
import { DIALECTS } from '../packages/server/src/dialects/index.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { toy } from '../packages/server/src/testing/toy/dialect.ts';
import { examplesOf } from '../packages/web/src/pages/playground/examples.ts';
import { clientsOf, serverInfoOf } from '../packages/web/src/pages/welcome/clients.ts';
import { fuzzedServer } from './fuzz/server.ts';
import { isolationWalk } from './isolation/isolation-suite.ts';

const ROOT = join(import.meta.dir, '..');
const FOLDER = 'packages/server/src/testing/toy/';
/** The list of dialects that the server is started with, including the new line. */
const dialects = [...DIALECTS, toy];
const descriptions = (await descriptionsOf(dialects)).filter(({ name }) => name === toy.name);

describe('a dialect that is added to the list', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({}, { dialects, listeners: [{ dialect: 'toy', port: 0 }] });
  });
  afterAll(() => server.stop());

  const listener = () => server.running.listeners.find(({ dialect }) => dialect === 'toy')?.port;

  async function said(url: string): Promise<unknown> {
    const socket = new WebSocket(url);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    socket.onopen = () => socket.send(JSON.stringify({ type: 'say', session: 'toys', text: 'hello' }));
    socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)));
    socket.onclose = ({ code }) => reject(new Error(`closed with ${code}`));
    return promise.finally(() => socket.close());
  }

  test('is served at its own path', async () => {
    expect(await said(`${server.ws}/toy`)).toEqual({ type: 'said', text: expect.any(String) });
  });

  test('has an extra listener, which serves it at every path', async () => {
    expect(await said(`ws://127.0.0.1:${listener()}/anywhere`)).toMatchObject({ type: 'said' });
  });

  test('has HTTP routes with its settings, and its other paths are refused in its error format', async () => {
    expect(await (await fetch(`${server.http}/toy/steps`)).json()).toEqual({ steps: expect.any(Number) });
    const missing = await fetch(`${server.http}/toy/nothing`);
    expect(await missing.json()).toEqual({ toy: 'Not found', status: 404 });
    const foreign = await fetch(`${server.http}/toy/steps`, {
      headers: { origin: 'https://elsewhere.example' },
    });
    expect(await foreign.json()).toMatchObject({ status: 403 });
  });

  test('is listed in the information about the server', async () => {
    const about = await (await fetch(`${server.http}/v1/server`)).json();
    expect(about).toMatchObject({
      toys: true,
      dialects: expect.arrayContaining([{ name: 'toy', sockets: ['/toy'] }]),
      listeners: expect.arrayContaining([{ dialect: 'toy', port: listener() }]),
    });
  });

  test('is described in the OpenAPI and AsyncAPI documents of the server', async () => {
    const openApi = (await (await fetch(`${server.http}/openapi.json`)).json()) as { paths: object };
    expect(openApi.paths).toHaveProperty(['/toy/steps']);
    const asyncApi = (await (await fetch(`${server.http}/asyncapi.json`)).json()) as { channels: object };
    expect(Object.values(asyncApi.channels)).toContainEqual(expect.objectContaining({ address: '/toy' }));
  });

  test('has reference tables for the docs', () => {
    const [described] = descriptions;
    expect(described && referenceTables(described)).toMatchObject({
      'client-messages': [
        '| message | fields | meaning |',
        '|---|---|---|',
        '| `say` | `session, text` | An input |',
      ],
      'server-messages': expect.arrayContaining(['| `said` | `text` | An answer |']),
      endpoints: expect.arrayContaining([
        '| `GET /toy/steps` | a token if the server requires one | How many steps a turn may have |',
      ]),
    });
  });

  test('has examples for the playground and first steps for the guide', async () => {
    const { ids, dialects: listed } = await connect({ url: server.http }).dialects();
    const say = { type: 'say', session: ids.session ?? '', text: 'hello' };
    expect(listed.find(({ name }) => name === 'toy')).toMatchObject({
      title: 'Toy clients',
      transport: 'socket',
      socket: { addresses: [{ address: '/toy', condition: null }] },
      messages: [{ name: 'say', examples: [{ title: 'Say hello', frame: say }] }],
      snippets: [
        { kind: 'socket', title: 'Say hello', frames: [say] },
        { kind: 'request', method: 'GET', path: `/toy/sessions/${ids.session}` },
      ],
    });
  });

  test('is in the playground and the guide of the console', async () => {
    const parlance = connect({ url: server.http });
    const list = await parlance.dialects();
    const listed = list.dialects.find(({ name }) => name === 'toy');
    expect(listed && examplesOf(listed).map(({ name, title }) => `${name}: ${title}`)).toEqual([
      'say: Say hello',
    ]);
    const info = serverInfoOf(await parlance.server(), server.http);
    const client = clientsOf(info, list).find(({ dialect }) => dialect === 'toy');
    expect(client?.addresses.map(({ address }) => address)).toEqual([
      `${server.ws}/toy`,
      `ws://127.0.0.1:${listener()}`,
      server.http,
      `http://127.0.0.1:${listener()}`,
    ]);
    expect(client?.snippets.map(({ code }) => code.split(' ')[0])).toEqual(['npx', 'curl']);
  });

  test('is not mentioned outside of its folder', async () => {
    const sources = ['packages/*/src/**/*.{ts,tsx}', 'e2e/**/*.ts', 'scripts/**/*.ts'];
    const paths = sources.flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)]);
    const known: string[] = [];
    for (const path of paths) {
      if (path.startsWith(FOLDER) || join(ROOT, path) === import.meta.path) continue;
      if (/\b[Tt]oy\b/.test(await Bun.file(join(ROOT, path)).text())) known.push(path);
    }
    expect(known).toEqual([]);
    expect(paths.length).toBeGreaterThan(500);
  });
});

test('an extra listener of a dialect that is not in the list is refused', async () => {
  const start = startTestServer({}, { listeners: [{ dialect: 'toy', port: 0 }] });
  await expect(start).rejects.toThrow('--listen toy=0 does not name a served dialect');
});

test('thousands of hostile messages to it find no bug', async () => {
  const program = join(ROOT, FOLDER, 'serve.ts');
  const { sent, problems, logged, statuses } = await fuzzedServer({
    seed: 1,
    count: 2_000,
    descriptions,
    program,
  });
  expect(problems).toEqual([]);
  expect(logged).toEqual([]);
  expect(sent).toBeGreaterThanOrEqual(2_000);
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '404']));
});

isolationWalk({ dialects, descriptions });
