/** Errors contain what a caller needs: no stack, no path, no internal address. Searches all responses. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Command } from '../../packages/protocol/src/index.ts';
import { DESCRIPTIONS } from '../../packages/server/src/describe/descriptions.ts';
import type { TestClient } from '../../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { connected, type Person, request, unusedIds } from '../isolation/private-data.ts';
import { exampleIds, probesOf, routesOf, type SocketDialect, socketDialectsOf } from '../isolation/probes.ts';
import { awaitGreeting, untilAnswered } from '../isolation/sockets.ts';
import { CollectedText } from './leaks.ts';
import { openVendor, REFUSALS, VENDORS, type Vendor } from './vendors.ts';

const ROUTES = routesOf(DESCRIPTIONS);
const DIALECTS = socketDialectsOf(DESCRIPTIONS);
const ids = unusedIds();
const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
const BODIES = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '7',
  '{"a":',
  '\u0000',
  DEEP,
  `{"type":${DEEP}}`,
  '{"type":{"toString":1}}',
];
const PARAMETERS = [
  '%',
  '%00',
  '%E0%A4%A',
  '..%2f..%2fetc%2fpasswd',
  'x'.repeat(5_000),
  '%F0%9F%98%80',
  ' ',
  '__proto__',
];
const QUERIES = [
  'limit=x',
  'limit=-1',
  'limit=1e999',
  'after=NaN',
  'cursor=%00',
  'since=never',
  'offset=-1',
  'status=no',
  'url=x',
];

async function openServer(settings: Record<string, string> = {}) {
  const server = await startTestServer(settings);
  const dev: Person = { name: 'dev', token: await server.login('dev', 'dev-password') };
  return { server, dev, haul: new CollectedText(server.data) };
}

describe('requests that cannot be read', () => {
  let server: TestServer;
  let dev: Person;
  let haul: CollectedText;
  beforeAll(async () => {
    ({ server, dev, haul } = await openServer());
  });
  afterAll(() => server.stop());

  async function raw(method: string, path: string, body?: string): Promise<number> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${dev.token}` };
    const response = await fetch(server.http + path, {
      method,
      headers,
      body: method === 'GET' ? undefined : body,
    });
    const endless = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (endless) await response.body?.cancel();
    else haul.add(`${method} ${path.slice(0, 100)}`, await response.text());
    return response.status;
  }

  test.each(Object.entries(ROUTES).filter(([, route]) => !route.revokesToken))(
    'is refused at %s with a clear message',
    async (name, route) => {
      const [method = '', pattern = ''] = name.split(' ');
      const statuses: number[] = [];
      for (const path of new Set(probesOf(route, ids).map((probe) => probe.path))) {
        if (method !== 'GET') for (const body of BODIES) statuses.push(await raw(method, path, body));
        for (const query of QUERIES) statuses.push(await raw(method, `${path.split('?')[0]}?${query}`, '{}'));
      }
      if (pattern.includes('{'))
        for (const parameter of PARAMETERS)
          statuses.push(await raw(method, pattern.replace(/\{\w+\}/g, parameter), '{}'));
      expect(statuses.filter((status) => status === 500)).toEqual([]);
      expect(haul.leaks()).toEqual([]);
    },
  );

  test.each(Object.keys(DIALECTS))('is refused on a socket of %s with a clear message', async (name) => {
    const dialect = DIALECTS[name] as SocketDialect;
    const client = await connected(server, dev, dialect.socket.connect(exampleIds(ids)));
    await awaitGreeting(client, dialect, ids);
    for (const text of BODIES) client.socket.send(text);
    client.socket.send(new Uint8Array([0xff, 0xfe, 0x00]));
    for (const type of Object.keys(dialect.messages.in))
      for (const more of [
        {},
        { id: 7 },
        { id: 'x', payload: 7, data: 7 },
        { id: 'x', payload: { input: 7 }, timestamp: 'x' },
      ])
        client.send({ [dialect.socket.nameField]: type, ...more });
    await untilAnswered(client, dialect);
    haul.add(name, JSON.stringify(client.frames));
    expect(client.frames.length).toBeGreaterThan(BODIES.length);
    expect(haul.leaks()).toEqual([]);
  });

  test('a failed tool reports what a caller needs', async () => {
    const session = crypto.randomUUID();
    const chat = await connected(server, dev, `/broadcast?session=${session}`);
    for (const message of [
      'read missing.txt',
      'read ../../../../etc/shadow',
      'list files in nowhere',
      'search for "(((" in nowhere',
      'fetch http://127.0.0.1:1/',
      'fetch http://[',
    ]) {
      chat.send({ type: 'chat', message, session_id: session });
      await chat.next('agent_message');
    }
    haul.add('tools', JSON.stringify(chat.frames));
    expect(haul.leaks()).toEqual([]);
  });

  test('every invalid command', async () => {
    for (const type of Command.options.map((option) => option.shape.type.value))
      for (const more of [{}, { parts: 7 }, { answer: 7 }, { call: { tool: 7 } }, { labels: 'x' }])
        await raw('POST', `/v1/sessions/${ids.session}/commands`, JSON.stringify({ type, ...more }));
    expect(haul.leaks()).toEqual([]);
  });
});

describe.each(Object.entries(VENDORS))('a model that fails: %s', (_, settings) => {
  let server: TestServer;
  let dev: Person;
  let haul: CollectedText;
  let vendor: Vendor;
  beforeAll(async () => {
    vendor = openVendor();
    ({ server, dev, haul } = await openServer({ ...settings(vendor.url), MODEL: 'any-model' }));
  });
  afterAll(async () => {
    await server.stop();
    vendor.stop();
  });

  test.each(REFUSALS.map((refusal) => [refusal.what, refusal] as const))('%s', async (what, refusal) => {
    vendor.refuse(refusal);
    const session = crypto.randomUUID();
    const post = (path: string, body: object) => request(server, dev, { method: 'POST', path, body });
    await post(`/v1/sessions/${session}/commands`, { type: 'session.create' });
    const listeners: [string, TestClient, SocketDialect][] = [];
    for (const [name, dialect] of Object.entries(DIALECTS)) {
      const client = await connected(server, dev, dialect.socket.connect({ ...exampleIds(ids), session }));
      await awaitGreeting(client, dialect, ids);
      if (name !== 'pusher') await untilAnswered(client, dialect);
      listeners.push([name, client, dialect]);
    }
    const failed = listeners.find(([name]) => name === 'agentloop')?.[1].next('error');
    await post(`/v1/sessions/${session}/commands`, {
      type: 'input.submit',
      parts: [{ type: 'text', text: 'Hello' }],
    });
    const error = await failed;
    if (refusal.isShown) expect(JSON.stringify(error)).toContain('The worker failed to load');
    for (const [name, client, dialect] of listeners) {
      await untilAnswered(client, dialect);
      haul.add(`${what}, ${name}`, JSON.stringify(client.frames));
      client.close();
    }
    haul.add(
      `${what}, events`,
      (await request(server, dev, { path: `/v1/sessions/${session}/events` })).text,
    );
    haul.add(
      `${what}, messages`,
      (await request(server, dev, { path: `/v1/conversations/${session}/messages` })).text,
    );
    haul.add(`${what}, summarize`, (await post('/api/summarize', { content: 'Hello.' })).text);
    haul.add(`${what}, interact`, (await post('/api/agent/interact', { query: 'Hello' })).text);
    expect(haul.leaks()).toEqual([]);
  });
});
