/** Apps of MCP servers: which tools the model sees, what a result has for the app, and what pages may ask for. */
import { expect, test } from 'bun:test';
import { opened } from '../../testing/tools/mcp.ts';
import { appServer, type ServedApp } from '../../testing/tools/mcp-app-server.ts';
import { contextIn } from '../../testing/tools/tool-context.ts';

const HTML = '<!doctype html><title>Chart</title>';

async function charts(app: Partial<ServedApp> = {}) {
  const server = appServer({ html: HTML, ...app });
  const mcp = await opened({ charts: { url: server.url } });
  return {
    server,
    mcp,
    async [Symbol.asyncDispose]() {
      await mcp.close();
      server[Symbol.dispose]();
    },
  };
}

test('servers learn that apps are shown', async () => {
  await using with_ = await charts();
  expect(with_.server.capabilities).toMatchObject({
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
  });
});

test('a tool that is only for apps is never offered to a model, and one for nobody is not there', async () => {
  await using with_ = await charts();
  const { mcp } = with_;
  expect(mcp.tools().map(({ name, onlyDirect }) => [name, onlyDirect])).toEqual([
    ['mcp_charts_draw', false],
    ['mcp_charts_refresh', true],
    ['mcp_charts_save', false],
    ['mcp_charts_secret', false],
  ]);
});

test('a result has all of its data for the app, and what is only for it', async () => {
  await using with_ = await charts();
  const result = await with_.mcp.named('mcp_charts_draw').run({}, contextIn('/'));
  expect(result).toMatchObject({
    app: { resource: 'ui://charts/draw.html', meta: { seed: 7 } },
    data: { points: expect.arrayContaining([1_999]) },
  });
  expect(await with_.mcp.named('mcp_charts_save').run({}, contextIn('/'))).not.toHaveProperty('app');
});

test('an app is its page, its tool, and the tools of the same server that are for apps', async () => {
  await using with_ = await charts();
  expect(await with_.mcp.offers.app('mcp_charts_draw', 'local')).toEqual({
    server: 'charts',
    resource: 'ui://charts/draw.html',
    ...{ html: HTML, connect: [], load: [] },
    tool: { name: 'draw', title: 'Draw', inputSchema: { type: 'object' } },
    tools: { draw: 'mcp_charts_draw', refresh: 'mcp_charts_refresh', save: 'mcp_charts_save' },
  });
  expect(await with_.mcp.offers.appFile('mcp_charts_draw', 'local', 'charts://data')).toEqual({
    contents: [{ uri: 'charts://data', mimeType: 'text/plain', text: 'the data' }],
  });
});

test('only public origins that the page names can be reached', async () => {
  const csp = {
    connectDomains: ['https://api.example.com', 'http://127.0.0.1', '*', "'self'", 7],
    resourceDomains: ['https://*.example.com', 'https://a.example.com; script-src *', 'https://localhost'],
    frameDomains: ['https://www.example.com'],
  };
  await using with_ = await charts({ csp });
  expect(await with_.mcp.offers.app('mcp_charts_draw', 'local')).toMatchObject({
    connect: ['https://api.example.com'],
    load: ['https://*.example.com'],
  });
});

test('a tool without an app, another type of page and a page that is too large are refused', async () => {
  await using with_ = await charts();
  const { offers } = with_.mcp;
  for (const tool of ['mcp_charts_save', 'mcp_charts_nobody', 'shell'])
    await expect(offers.app(tool, 'local')).rejects.toMatchObject({ code: 'not_found' });
  await using typed = await charts({ mimeType: 'text/html' });
  await expect(typed.mcp.offers.app('mcp_charts_draw', 'local')).rejects.toMatchObject({ code: 'invalid' });
  await using large = await charts({ html: 'x'.repeat(5_000_001) });
  await expect(large.mcp.offers.app('mcp_charts_draw', 'local')).rejects.toMatchObject({ code: 'invalid' });
});
