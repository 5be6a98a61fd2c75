/** MCP servers that crash, hang, send invalid data and flood. */
import { describe, expect, test } from 'bun:test';
import { textOf } from '@parlance/protocol';
import { toolSpec } from '../../core/engine/model-step.ts';
import { eventually, MISBEHAVING, opened } from '../../testing/tools/mcp.ts';
import { contextIn, faultOf, type ToolFixture, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { slowness } from '../../testing/until.ts';
import { McpServers } from './servers.ts';

const TOKEN = 'token-that-nobody-may-see';
const context = contextIn('/');

const misbehaving = (place: ToolFixture, more: object = {}) => ({
  bad: {
    command: process.execPath,
    args: [MISBEHAVING],
    cwd: place.root,
    env: { SERVER_TOKEN: TOKEN },
    ...more,
  },
});

const logOf = async (place: ToolFixture): Promise<string[]> => (await place.read('log')).trim().split('\n');
const said = (call: ReturnType<typeof use>) =>
  call.then(
    ({ parts }) => textOf(parts),
    () => false as const,
  );

test('the schema of a server is passed to the model unchanged, under names that vendors accept', async () => {
  await using place = await toolFixture();
  await using mcp = await opened(misbehaving(place));
  for (const tool of mcp.tools()) {
    expect(tool.name).toMatch(/^mcp_bad_[A-Za-z0-9_-]{1,56}$/);
    expect(toolSpec(tool).parameters).toEqual({ type: 'object' });
  }
  expect(mcp.tools()).toBeArrayOfSize(12);
});

test('a killed server is restarted; until then its tools report a fault', async () => {
  await using place = await toolFixture();
  await using mcp = await opened(misbehaving(place), 300);
  const say = mcp.named('mcp_bad_say');
  const pid = Number((await logOf(place))[0]?.split(' ')[1]);
  process.kill(pid, 'SIGKILL');
  await eventually(() => mcp.lines.some((line) => line.startsWith('MCP server lost')));
  const fault = await faultOf(use(say, { text: 'a' }, context));
  expect(fault.code).toBe('tool_failed');
  expect(fault.message).toBe('The MCP server bad is not running; it is being started again.');
  expect(await eventually(() => said(use(say, { text: 'back' }, context)))).toBe('back');
  expect(await logOf(place)).toBeArrayOfSize(2);
});

test('a server that dies during a call leaves the outcome unknown', async () => {
  await using place = await toolFixture();
  await using mcp = await opened(misbehaving(place));
  const { message } = await faultOf(use(mcp.named('mcp_bad_die'), {}, context));
  expect(message).toBe('The MCP server bad was lost during the call; the outcome is unknown.');
  expect(await eventually(() => said(use(mcp.named('mcp_bad_say'), { text: 'back' }, context)))).toBe('back');
});

test.each([
  ['no output', '', 'the program ended with exit code 7'],
  ['the last line', 'one\ntwo', 'the program ended with exit code 7: two'],
  [
    'the error of npm',
    [
      'npm error code E404',
      'npm error 404 Not Found - GET https://registry.example/missing - Not found',
      'npm error 404',
      "npm error 404  'missing@*' is not in this registry.",
      'npm error A complete log of this run can be found in: /root/.npm/_logs/debug-0.log',
    ].join('\n'),
    'the program ended with exit code 7: npm error 404 Not Found - GET https://registry.example/missing - Not found',
  ],
  [
    'the error before the stack of Node',
    "node:internal/modules/cjs/loader:1\n  throw err;\n\nError: Cannot find module '/x.js'\n    at x\n\nNode.js v20.20.2",
    "the program ended with exit code 7: Error: Cannot find module '/x.js'",
  ],
])('the error of a server that does not start has its reason: %s', async (_, output, message) => {
  const code = `process.stderr.write(process.env.OUTPUT ?? '', () => process.exit(7))`;
  await using mcp = await opened({
    bad: { command: process.execPath, args: ['-e', code], env: { OUTPUT: output } },
  });
  await eventually(() => mcp.servers()[0]?.error?.message === message);
});

test('a server that dies immediately is not restarted in a hot loop', async () => {
  await using place = await toolFixture();
  await place.write(
    'dies.ts',
    "require('node:fs').appendFileSync('log', Date.now() + '\\n'); process.exit(1);",
  );
  await using mcp = await opened(misbehaving(place, { args: ['dies.ts'] }), 50);
  await eventually(async () => (await logOf(place)).length >= 4);
  expect(mcp.tools()).toEqual([]);
  const starts = (await logOf(place)).map(Number);
  // Each pause doubles, minus up to half for jitter.
  for (const [index, pause] of [25, 50, 100].entries())
    expect((starts[index + 1] ?? 0) - (starts[index] ?? 0)).toBeGreaterThanOrEqual(pause);
});

test('a missing server does not delay the others', async () => {
  await using place = await toolFixture();
  await using mcp = await opened({
    ...misbehaving(place),
    gone: { command: '/nowhere/at/all' },
    silent: { url: 'http://127.0.0.1:1/mcp', headers: { authorization: `Bearer ${TOKEN}` } },
  });
  expect(await said(use(mcp.named('mcp_bad_say'), { text: 'here' }, context))).toBe('here');
  expect(mcp.lines.filter((line) => line.startsWith('failed to connect to MCP server'))).not.toBeEmpty();
  expect(mcp.lines.join('\n')).not.toContain(TOKEN);
});

test('changed tools are offered when the server lists them', async () => {
  await using place = await toolFixture();
  await using mcp = await opened(misbehaving(place));
  let changes = 0;
  const end = mcp.onChange(() => changes++);
  await use(mcp.named('mcp_bad_grow'), {}, context);
  await eventually(() => mcp.tools().some((tool) => tool.name === 'mcp_bad_grown'));
  expect(changes).toBe(1);
  end();
});

test('a tool that is turned off is offered to nobody, and the server goes on running', async () => {
  await using place = await toolFixture();
  await using mcp = await opened(misbehaving(place));
  const names = () => mcp.tools().map(({ name }) => name);
  const offered = () => mcp.servers()[0]?.allTools.find(({ name }) => name === 'say');
  expect(names()).toContain('mcp_bad_say');
  const off = McpServers.parse(misbehaving(place, { disabledTools: ['say', 'not there'] }));
  await mcp.configure(off);
  expect(names()).not.toContain('mcp_bad_say');
  expect(names()).toContain('mcp_bad_hang');
  expect(offered()).toEqual({ name: 'say', description: expect.any(String), isOff: true });
  expect(mcp.servers()[0]?.tools).not.toContain('mcp_bad_say');
  await mcp.configure(McpServers.parse(misbehaving(place)));
  expect(names()).toContain('mcp_bad_say');
  expect(offered()?.isOff).toBe(false);
  expect((await logOf(place)).filter((line) => line.startsWith('started'))).toHaveLength(1);
});

test('a call that times out is cancelled at the server', async () => {
  await using place = await toolFixture();
  // The answer below comes within it, also on a busy machine.
  const seconds = Math.ceil(slowness());
  await using mcp = await opened(misbehaving(place, { timeoutMs: 1_000 * seconds }));
  const { message } = await faultOf(use(mcp.named('mcp_bad_hang'), {}, context));
  expect(message).toBe(`The MCP server bad did not answer within ${seconds} s.`);
  await eventually(async () => (await logOf(place)).includes('cancelled'));
  expect(await said(use(mcp.named('mcp_bad_say'), { text: 'here' }, context))).toBe('here');
});

test('an abort cancels the call at the server', async () => {
  await using place = await toolFixture();
  await using mcp = await opened(misbehaving(place));
  const abort = new AbortController();
  const call = faultOf(use(mcp.named('mcp_bad_hang'), {}, contextIn('/', { signal: abort.signal })));
  setTimeout(() => abort.abort(), 20);
  expect((await call).code).toBe('cancelled');
  await eventually(async () => (await logOf(place)).includes('cancelled'));
});

test('standard error of a server is logged without its secrets', async () => {
  await using place = await toolFixture();
  await using mcp = await opened(misbehaving(place));
  await eventually(() => mcp.lines.some((line) => line.includes('the token is [secret]')));
  const refused = await use(mcp.named('mcp_bad_refuse'), {}, context);
  expect(refused).toMatchObject({ failed: true, untrusted: true });
  expect(textOf(refused.parts)).toContain('no: [secret]');
  expect(mcp.lines.join('\n')).not.toContain(TOKEN);
});

describe('responses', () => {
  test('of every kind become storable parts', async () => {
    await using place = await toolFixture();
    await using mcp = await opened(misbehaving(place));
    const { parts } = await use(mcp.named('mcp_bad_odd'), {}, context);
    expect(parts).toEqual([
      { type: 'file', name: 'image', mime: 'image/svg+xml', data: 'PHN2Zz4=' },
      { type: 'file', name: 'audio', mime: 'audio/wav', data: 'AAAA' },
      { type: 'text', text: 'file:///a/b.txt?c\nwords \ufffd' },
      { type: 'image', mime: 'image/png', data: 'AAAA' },
      { type: 'file', name: 'b.bin', mime: 'application/octet-stream', data: 'AAAA' },
      { type: 'text', text: 'a\nfile:///a\nthe a' },
    ]);
  });

  test('are bounded in size', async () => {
    await using place = await toolFixture();
    await using mcp = await opened(misbehaving(place));
    const { parts, data } = await use(mcp.named('mcp_bad_large'), {}, context);
    expect(parts.length).toBeLessThanOrEqual(101);
    expect(parts[0]?.type).toBe('image');
    expect(parts[1]).toEqual({ type: 'text', text: '[image/png of 2250000 bytes left out]' });
    expect(textOf(parts).length).toBeLessThan(110_000);
    expect(textOf(parts).isWellFormed()).toBe(true);
    expect(data).toBeUndefined();
  });

  test('that are large, many at once, and followed by changes of the list keep the connection', async () => {
    await using place = await toolFixture();
    await using mcp = await opened(misbehaving(place, { timeoutMs: 600_000 }));
    const large = mcp.named('mcp_bad_large');
    const results = await Promise.all(Array.from({ length: 10 }, () => use(large, {}, context)));
    expect(results.map(({ parts }) => parts[0]?.type)).toEqual(Array.from({ length: 10 }, () => 'image'));
    const say = mcp.named('mcp_bad_say');
    const said500 = await Promise.all(
      Array.from({ length: 500 }, (_, index) => use(say, { text: `${index}` }, context)),
    );
    expect(textOf(said500.at(-1)?.parts ?? [])).toBe('499');
    await use(mcp.named('mcp_bad_grow'), {}, context);
    await eventually(() => mcp.tools().some((tool) => tool.name === 'mcp_bad_grown'));
    expect(mcp.servers()[0]).toMatchObject({ state: 'ready', error: null });
    expect(await logOf(place)).toBeArrayOfSize(1);
  });

  test("without end stop the server's process and do not fill our memory", async () => {
    await using place = await toolFixture();
    await using mcp = await opened(misbehaving(place));
    expect((await faultOf(use(mcp.named('mcp_bad_huge'), {}, context))).message).toContain('was lost');
    expect(await eventually(() => said(use(mcp.named('mcp_bad_say'), { text: 'back' }, context)))).toBe(
      'back',
    );
  });

  test('that are invalid are a fault', async () => {
    await using place = await toolFixture();
    await using mcp = await opened(misbehaving(place));
    const { message } = await faultOf(use(mcp.named('mcp_bad_nonsense'), {}, context));
    expect(message).toBe('The answer of the MCP server bad cannot be read.');
  });
});

test('closing stops the process without a restart', async () => {
  await using place = await toolFixture();
  const mcp = await opened(misbehaving(place));
  const say = mcp.named('mcp_bad_say');
  const pid = Number((await logOf(place))[0]?.split(' ')[1]);
  await mcp.close();
  expect(() => process.kill(pid, 0)).toThrow();
  expect((await faultOf(use(say, { text: 'a' }, context))).message).toBe(
    'The MCP server bad is not running.',
  );
  await Bun.sleep(200);
  expect(await logOf(place)).toBeArrayOfSize(1);
});

test('without servers there are no tools', async () => {
  await using mcp = await opened({});
  expect(mcp.tools()).toEqual([]);
});
