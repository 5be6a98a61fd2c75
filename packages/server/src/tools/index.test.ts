import { describe, expect, test } from 'bun:test';
import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectionId, type Json, PrincipalId } from '@parlance/protocol';
import { z } from 'zod';
import { ClientToolBroker } from '../core/index.ts';
import type { ClientRequest, Tool } from '../core/ports/tool.ts';

import { contextIn, faultOf, toolFixture, use } from '../testing/tools/tool-context.ts';
import { builtInTools } from './index.ts';

const OWNER = PrincipalId.parse('local');
const clients = new ClientToolBroker();
const tools = builtInTools({ clients, sandbox: null, agents: () => ['coder', 'tester'] });

function named(name: string): Tool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}

const BROWSER = [
  'extract_page_content',
  'open_url',
  'get_selected_text',
  'scroll_to_element',
  'dom_manipulation',
  'tab_management',
  'storage_access',
];

test('the built-in tools', () => {
  expect(tools.map((tool) => tool.name)).toEqual([
    ...['shell', 'local_shell', 'apply_patch', 'read_file', 'list_files', 'search_files'],
    ...['echo', 'save_file', 'handoff', 'update_plan', 'ask_user', 'fetch_page', ...BROWSER],
    ...['browser_plan', 'browser_act', 'browser_read', 'browser_verify', 'browser_ask', 'browser_finish'],
  ]);
});

test('web_search exists only with a key', () => {
  const names = (web?: { key?: string }) =>
    builtInTools({ clients, sandbox: null, agents: () => [], web }).map((tool) => tool.name);
  expect(names({ key: 'a key' })).toContain('web_search');
  for (const web of [undefined, {}, { key: '' }]) expect(names(web)).not.toContain('web_search');
});

test.each(tools)('$name has a description and a JSON Schema of an object', (tool) => {
  expect(z.toJSONSchema(tool.input, { io: 'input' })).toMatchObject({ type: 'object' });
  expect(tool.description).toMatch(/\.$/);
});

describe('echo', () => {
  test.each<[Json, string]>([
    ['words', 'words'],
    [{ a: [1, null] }, '{"a":[1,null]}'],
    [3, '3'],
  ])('gives back %j', async (value, text) => {
    expect(await use(named('echo'), { value }, contextIn('/'))).toEqual({
      parts: [{ type: 'text', text }],
      data: { value },
    });
    expect(await named('echo').approval({ value }, { root: '/' })).toBeNull();
  });
});

describe('save_file', () => {
  const tool = named('save_file');

  test('writes under the root and creates folders', async () => {
    await using place = await toolFixture();
    const input = { path: 'notes/a.txt', content: 'grüße' };
    expect(await use(tool, input, contextIn(place.root))).toEqual({
      parts: [{ type: 'text', text: 'Saved notes/a.txt (7 bytes).' }],
      data: { path: 'notes/a.txt', bytes: 7 },
    });
    expect(await place.read('notes/a.txt')).toBe('grüße');
    expect(await readdir(join(place.root, 'notes'))).toEqual(['a.txt']);
  });

  test('needs approval and shows exactly what it writes', async () => {
    await using place = await toolFixture();
    const input = { path: 'a.txt', content: 'x' };
    expect(await tool.approval(input, place)).toEqual({
      kind: 'edit',
      command: ['save_file', 'a.txt', 'x'],
      description: 'Creates the file a.txt (1 bytes).',
      seen: [expect.any(String)],
      grant: 'save_file',
    });
    await place.write('a.txt', 'before');
    expect((await tool.approval(input, place))?.description).toStartWith('Replaces');
    expect((await tool.approval({ path: '.git/config', content: '' }, place))?.kind).toBe('other');
  });

  test.each([['/etc/x'], ['../x'], ['a/../../x'], ['a/..'], [''], ['a\0b']])(
    'refuses the path %j',
    (path) => {
      expect(tool.input.safeParse({ path, content: '' }).success).toBe(false);
    },
  );

  test('does not write through a link that leads outside', async () => {
    await using place = await toolFixture();
    await symlink(place.outside, join(place.root, 'up'));
    await symlink(join(place.outside, 'new'), join(place.root, 'dangling'));
    for (const path of ['up/x', 'dangling']) {
      expect((await tool.approval({ path, content: '' }, place))?.grant).toBeUndefined();
      await faultOf(use(tool, { path, content: '' }, contextIn(place.root)));
    }
    expect(await readdir(place.outside)).toEqual(['root']);
  });

  test('a folder at the path is a fault', async () => {
    await using place = await toolFixture();
    await place.write('folder/a', '');
    await faultOf(use(tool, { path: 'folder', content: '' }, contextIn(place.root)));
    await faultOf(use(tool, { path: 'folder/a/b', content: '' }, contextIn(place.root)));
  });
});

describe('handoff', () => {
  test('names the next agent', async () => {
    const result = await use(named('handoff'), { agent: 'tester', reason: 'needs tests' }, contextIn('/'));
    expect(result.handoff).toEqual({ agent: 'tester', reason: 'needs tests' });
  });

  test('an unknown agent is a fault', async () => {
    const fault = await faultOf(use(named('handoff'), { agent: 'nobody', reason: 'x' }, contextIn('/')));
    expect(fault.code).toBe('tool_invalid');
    expect(fault.message).toContain('coder, tester');
  });
});

describe('browser tools', () => {
  async function ask(name: string, input: object, answer: Json) {
    const requests: ClientRequest[] = [];
    const context = contextIn('/', {
      atClient: async (request) => {
        requests.push(request);
        return answer;
      },
    });
    return { result: await use(named(name), input, context), request: requests[0] };
  }

  test('exist while a client offers them', () => {
    const connection = ConnectionId.parse('socket');
    expect(named('open_url').available?.(OWNER)).toBe(false);
    clients.register({
      connection,
      owner: OWNER,
      offer: { tools: ['open_url'], fallback: false },
      executionId: ({ id }) => id,
      request: () => undefined,
    });
    expect(named('open_url').available?.(OWNER)).toBe(true);
    expect(named('storage_access').available?.(OWNER)).toBe(false);
    expect(named('open_url').available?.(PrincipalId.parse('other'))).toBe(false);
    clients.unregister(connection);
  });

  const requests: [name: string, input: object, permissions: string[], timeoutMs: number][] = [
    ['extract_page_content', { selector: 'main' }, ['content_extraction', 'page_access'], 15_000],
    ['open_url', { url: 'https://example.org/', newTab: true }, ['navigation', 'tab_management'], 45_000],
    ['get_selected_text', {}, ['browser_interaction'], 30_000],
    ['scroll_to_element', { selector: '#a' }, ['browser_interaction'], 30_000],
    ['dom_manipulation', { action: 'type', selector: '#a', value: 'x' }, ['browser_interaction'], 30_000],
    ['tab_management', { action: 'activate', tabId: 3 }, ['browser_interaction'], 30_000],
    ['storage_access', { action: 'set', key: 'k', value: 'v' }, ['browser_interaction'], 30_000],
  ];
  for (const [name, input, permissions, timeoutMs] of requests) {
    test(`${name} is requested from the client with its permissions and timeout`, async () => {
      const shown = await named(name).approval(input, { root: '/' });
      expect(shown?.kind ?? 'browser').toBe('browser');
      const { request } = await ask(name, input, 'done');
      expect(request).toMatchObject({ tool: name, parameters: input, permissions, timeoutMs });
      expect(request?.schema).toMatchObject({ type: 'object' });
    });
  }

  test.each<[string, object]>([
    ['open_url', {}],
    ['open_url', { url: 'javascript:alert(1)' }],
    ['open_url', { url: 'file:///etc/passwd' }],
    ['open_url', { url: 'chrome://settings' }],
    ['extract_page_content', { url: 'data:text/html,x' }],
    ['tab_management', { action: 'create', url: 'file:///x' }],
    ['tab_management', { action: 'close' }],
    ['dom_manipulation', { action: 'type', selector: '#a' }],
    ['dom_manipulation', { action: 'evaluate', selector: '#a' }],
    ['storage_access', { action: 'set', key: 'k' }],
    ['scroll_to_element', { selector: '' }],
  ])('%s refuses %j', (name, input) => {
    expect(named(name).input.safeParse(input).success).toBe(false);
  });

  test('text is returned as it is, an object as JSON and as data', async () => {
    expect((await ask('get_selected_text', {}, 'words')).result).toEqual({
      parts: [{ type: 'text', text: 'words' }],
      untrusted: true,
    });
    expect((await ask('get_selected_text', {}, { a: 1 })).result).toEqual({
      parts: [{ type: 'text', text: '{"a":1}' }],
      data: { a: 1 },
      untrusted: true,
    });
    expect((await ask('tab_management', { action: 'list' }, [1])).result).toEqual({
      parts: [{ type: 'text', text: '[1]' }],
      untrusted: true,
    });
  });

  test('a page of 1 MB is cut and not repeated as data', async () => {
    const { result } = await ask('extract_page_content', {}, { content: '😀'.repeat(500_000) });
    expect(JSON.stringify(result).length).toBeLessThan(110_000);
    expect(result.data).toBeUndefined();
  });
});
