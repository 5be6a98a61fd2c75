import { expect, test } from 'bun:test';
import { GALLERY } from './mcp-gallery.ts';
import { serversIn } from './mcp-json.ts';

const FILES = { command: 'npx', args: ['-y', 'files', '/srv'], env: { LEVEL: 'info' } };

test.each([
  ['Claude Desktop and Cursor', { mcpServers: { files: FILES } }],
  ['VS Code', { inputs: [], servers: { files: { type: 'stdio', ...FILES } } }],
  ['the settings of VS Code', { mcp: { servers: { files: FILES } } }],
  ['servers by name', { files: FILES }],
  ['one server', { name: 'files', ...FILES }],
])('%s', (_name, json) => {
  const found = { name: 'files', server: FILES, what: 'npx -y files /srv', missing: [] };
  expect(serversIn(JSON.stringify(json))).toEqual({ servers: [found], problems: [] });
});

test('a part of a file, with comments and commas', () => {
  const text = `"mcpServers": {
    // the "docs"
    "docs": { "url": "https://docs.example/mcp", /* , } */ "headers": { "x": "a // b, }" }, },
  }`;
  expect(serversIn(text).servers).toEqual([
    {
      name: 'docs',
      server: { url: 'https://docs.example/mcp', headers: { x: 'a // b, }' } },
      what: 'https://docs.example/mcp',
      missing: [],
    },
  ]);
});

test('values that are left open are named, and not stored', () => {
  const json = {
    servers: {
      github: {
        type: 'http',
        url: 'https://x.example/mcp',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as VS Code writes it
        headers: { Authorization: 'Bearer ${input:token}' },
      },
      'my search!': {
        command: 'x',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as VS Code writes it
        args: ['--root', '${workspaceFolder}'],
        env: { KEY: 'YOUR_KEY', OK: 'yes' },
      },
    },
  };
  const { servers } = serversIn(JSON.stringify(json));
  expect(servers.map(({ name, missing }) => [name, missing])).toEqual([
    ['github', ['Authorization']],
    ['my-search-', ['KEY', 'the arguments']],
  ]);
  expect(servers[1]?.server.env).toEqual({ KEY: '', OK: 'yes' });
});

test('what cannot be added is left out with the reason', () => {
  const json = {
    mcpServers: {
      files: FILES,
      off: { ...FILES, disabled: true },
      old: { type: 'sse', url: 'https://x.example' },
      none: {},
    },
  };
  const { servers, problems } = serversIn(JSON.stringify(json), ['files']);
  expect(servers).toEqual([]);
  expect(problems).toEqual([
    '“files” is left out: files already exists.',
    '“off” is left out: it is disabled there.',
    '“old” is left out: its transport (SSE) was replaced by HTTP; look for its new address.',
    '“none” is left out: it has neither a command nor an address.',
  ]);
  for (const text of ['{', '[]', '"x"', '{"mcpServers": []}', '{"a": 1}'])
    expect(serversIn(text)).toMatchObject({ servers: [], problems: [expect.any(String)] });
  expect(serversIn(' ')).toEqual({ servers: [], problems: [] });
});

test('the servers of the gallery have names that can be added', () => {
  for (const { name } of GALLERY) expect(name).toMatch(/^[A-Za-z0-9_-]{1,32}$/);
  expect(new Set(GALLERY.map(({ name }) => name)).size).toBe(GALLERY.length);
});
