/** The host of an app, whose page may send anything. */
import { expect, test } from 'bun:test';
import type { JsonObject } from '@parlance/protocol';
import { AppHost, type Mode, resultOf, type Wish } from './app-host.ts';

type Posted = { id?: string | number; method?: string; result?: JsonObject; error?: { code: number } };

function hosted({ allows = true } = {}) {
  const posted: Posted[] = [];
  const called: [string, JsonObject][] = [];
  const wishes: Wish[] = [];
  const shown: Mode[] = [];
  const ends: string[] = [];
  const waiting: (() => void)[] = [];
  const host = new AppHost({
    app: { tool: { name: 'draw' }, tools: { refresh: 'mcp_charts_refresh', slow: 'mcp_charts_slow' } },
    input: { city: 'Oslo' },
    result: { content: [{ type: 'text', text: 'sunny' }] },
    post: (message) => void posted.push(message as Posted),
    context: () => ({ displayMode: 'inline' }),
    async call(tool, input) {
      called.push([tool, input]);
      if (tool === 'mcp_charts_slow') await new Promise<void>((resolve) => waiting.push(resolve));
      return { content: [] };
    },
    read: async (uri) => ({ contents: [{ uri }] }),
    async ask(wish) {
      wishes.push(wish);
      return allows;
    },
    show(mode) {
      shown.push(mode);
      return mode;
    },
    ended: () => void ends.push('ended'),
    exceeded: () => void ends.push('exceeded'),
  });
  let id = 0;
  const say = (message: unknown) => host.receive(message, 0);
  return {
    ...{ host, posted, called, wishes, shown, ends, waiting, say },
    notify: (method: string) => say({ jsonrpc: '2.0', method }),
    async request(method: unknown, params: unknown = {}): Promise<Posted | undefined> {
      const mine = ++id;
      say({ jsonrpc: '2.0', id: mine, method, params });
      for (let turn = 0; turn < 10; turn++) await null;
      return posted.find((message) => message.id === mine);
    },
  };
}

test('nothing is sent before the app is ready; then its call and its result, once', async () => {
  const { host, posted, notify, request } = hosted();
  host.changed({ theme: 'dark' });
  expect(posted).toEqual([]);
  expect((await request('ui/initialize'))?.result).toMatchObject({
    protocolVersion: '2026-01-26',
    hostContext: { toolInfo: { tool: { name: 'draw' } } },
  });
  notify('ui/notifications/initialized');
  notify('ui/notifications/initialized');
  host.changed({ theme: 'dark' });
  expect(posted.slice(1)).toMatchObject([
    { method: 'ui/notifications/tool-input', params: { arguments: { city: 'Oslo' } } },
    { method: 'ui/notifications/tool-result', params: { content: [{ text: 'sunny' }] } },
    { method: 'ui/notifications/host-context-changed', params: { theme: 'dark' } },
  ] as object[]);
});

test('only tools of its server that are for apps are called', async () => {
  const { called, request } = hosted();
  for (const name of ['mcp_charts_refresh', 'shell', '__proto__', 'constructor', 7, undefined])
    expect((await request('tools/call', { name }))?.error?.code).toBe(-32_602);
  expect((await request('tools/call', { name: 'refresh', arguments: [] }))?.error?.code).toBe(-32_602);
  expect(called).toEqual([]);
  await request('tools/call', { name: 'refresh', arguments: { all: true } });
  expect(called).toEqual([['mcp_charts_refresh', { all: true }]]);
});

test('links and messages need the user', async () => {
  const { wishes, request } = hosted({ allows: false });
  expect((await request('ui/open-link', { url: 'https://example.com/a' }))?.result).toEqual({
    isError: true,
  });
  const hello = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };
  expect((await request('ui/message', hello))?.result).toEqual({ isError: true });
  expect(wishes).toEqual([
    { kind: 'link', url: 'https://example.com/a' },
    { kind: 'message', text: 'Hello' },
  ]);
});

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'https://bank.example@evil.example/',
  '/relative',
  '',
  7,
])('the user is never asked to open %p', async (url) => {
  const { wishes, request } = hosted();
  expect((await request('ui/open-link', { url }))?.result).toEqual({ isError: true });
  expect(wishes).toEqual([]);
});

test('messages of other roles or without text are refused', async () => {
  const { wishes, request } = hosted();
  const content = [{ type: 'text', text: 'x' }];
  for (const params of [{ role: 'system', content }, { role: 'user' }, { role: 'user', content: [{}] }])
    expect((await request('ui/message', params))?.error?.code).toBe(-32_602);
  expect(wishes).toEqual([]);
});

test('it fills the window if it asks, and no other modes are there', async () => {
  const { shown, request } = hosted();
  expect((await request('ui/request-display-mode', { mode: 'fullscreen' }))?.result).toEqual({
    mode: 'fullscreen',
  });
  expect((await request('ui/request-display-mode', { mode: 'pip' }))?.result).toEqual({ mode: 'inline' });
  expect(shown).toEqual(['fullscreen']);
});

test('methods that are not there are named as such', async () => {
  const { request } = hosted();
  for (const method of ['ui/update-model-context', 'sampling/createMessage', 'tools/list', 'toString'])
    expect((await request(method))?.error?.code).toBe(-32_601);
});

test('what is no message is ignored', async () => {
  const { posted, called, ends, say } = hosted();
  for (const message of [null, undefined, 'text', 7, [], {}]) say(message);
  say({ jsonrpc: '1.0', id: 1, method: 'ping' });
  say({ jsonrpc: '2.0', id: {}, method: 'tools/call', params: { name: 'refresh' } });
  say({ jsonrpc: '2.0', id: 1 });
  await Bun.sleep(0);
  expect([posted, called, ends]).toEqual([[], [], []]);
});

test('too many requests at once are refused', async () => {
  const { waiting, request } = hosted();
  for (let count = 0; count < 10; count++) await request('tools/call', { name: 'slow' });
  expect((await request('ping'))?.error?.code).toBe(-32_000);
  for (const go of waiting) go();
  await Bun.sleep(0);
  expect((await request('ping'))?.result).toEqual({});
});

test('an app that floods, or sends too much at once, is removed and heard no more', async () => {
  const flooding = hosted();
  for (let count = 0; count < 400; count++) flooding.notify('ui/notifications/size-changed');
  expect(flooding.ends).toEqual(['exceeded']);
  expect(await flooding.request('ping')).toBeUndefined();
  const large = hosted();
  large.say({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(1_000_001) } });
  expect(large.ends).toEqual(['exceeded']);
  const circular: { self?: object } = {};
  circular.self = circular;
  const odd = hosted();
  odd.say(circular);
  expect(odd.ends).toEqual(['exceeded']);
});

test('before it is removed, it may save what it has', async () => {
  const { host, posted, notify, say } = hosted();
  notify('ui/notifications/initialized');
  const closed = host.close();
  const { id } = posted.find(({ method }) => method === 'ui/resource-teardown') ?? {};
  say({ jsonrpc: '2.0', id, result: {} });
  await closed;
  notify('ui/notifications/request-teardown');
});

test('it can ask to be closed', () => {
  const { ends, notify } = hosted();
  notify('ui/notifications/request-teardown');
  expect(ends).toEqual(['ended']);
});

test('a result is what MCP has', () => {
  const parts = [
    { type: 'text' as const, text: 'a' },
    { type: 'image' as const, mime: 'image/png', data: 'AA==' },
  ];
  expect(resultOf({ outcome: 'denied', parts, app: { resource: 'ui://x', meta: { seed: 7 } } })).toEqual({
    content: [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
    ],
    isError: true,
    _meta: { seed: 7 },
  });
});
