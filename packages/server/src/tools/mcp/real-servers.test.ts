/** Tests against the reference servers of the protocol, over both transports. */
import { describe, expect, test } from 'bun:test';
import { type Part, textOf } from '@parlance/protocol';
import { freePort } from '../../testing/free-port.ts';
import { EVERYTHING, eventually, FILESYSTEM, opened } from '../../testing/tools/mcp.ts';
import { contextIn, faultOf, toolFixture, use } from '../../testing/tools/tool-context.ts';

const bun = process.execPath;
const context = contextIn('/');
const everything = { command: bun, args: [EVERYTHING, 'stdio'] };

/** The HTTP server of the package, ready to answer. */
async function serve(port: number): Promise<AsyncDisposable> {
  const child = Bun.spawn([bun, EVERYTHING, 'streamableHttp'], {
    env: { PATH: process.env.PATH ?? '', PORT: String(port) },
    stdout: 'ignore',
    stderr: 'ignore',
  });
  await eventually(() =>
    fetch(`http://127.0.0.1:${port}/mcp`).then(
      (response) => response.status > 0,
      () => false,
    ),
  );
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

type Place = AsyncDisposable & { readonly server: object };
const TRANSPORTS: [string, () => Promise<Place>][] = [
  ['stdio', async () => ({ server: everything, [Symbol.asyncDispose]: async () => undefined })],
  [
    'streamable HTTP',
    async () => {
      const port = freePort();
      return { ...(await serve(port)), server: { url: `http://127.0.0.1:${port}/mcp` } };
    },
  ],
];

describe.each(TRANSPORTS)('server-everything over %s', (_name, start) => {
  test('lists its tools and returns text, images, resources, data and errors', async () => {
    await using place = await start();
    await using mcp = await opened({ every: place.server });
    const names = mcp.tools().map((tool) => tool.name);
    expect(names).toContain('mcp_every_echo');
    expect(names).toContain('mcp_every_get-sum');
    expect(mcp.named('mcp_every_echo').parameters).toMatchObject({
      type: 'object',
      properties: { message: { type: 'string' } },
      required: ['message'],
    });
    const call = (name: string, input: object) => use(mcp.named(`mcp_every_${name}`), input, context);
    expect(await call('echo', { message: 'grüße' })).toEqual({
      parts: [{ type: 'text', text: 'Echo: grüße' }],
      untrusted: true,
    });
    expect(textOf((await call('get-sum', { a: 40, b: 2 })).parts)).toContain('42');
    const image = (await call('get-tiny-image', {})).parts.find((part) => part.type === 'image');
    expect(image).toMatchObject({ mime: 'image/png', data: expect.stringMatching(/^iVBOR/) });
    expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({
      data: { temperature: expect.any(Number) },
    });
    const resource = await call('get-resource-reference', { resourceType: 'Blob', resourceId: 1 });
    expect(resource.parts.map((part: Part) => part.type)).toEqual(['text', 'file', 'text']);
    expect(await call('get-sum', { a: 'four' })).toMatchObject({ failed: true, untrusted: true });
  });

  test('stops a cancelled call', async () => {
    await using place = await start();
    await using mcp = await opened({ every: place.server });
    const abort = new AbortController();
    const slow = mcp.named('mcp_every_trigger-long-running-operation');
    const call = faultOf(use(slow, { duration: 60, steps: 2 }, contextIn('/', { signal: abort.signal })));
    await Bun.sleep(50);
    abort.abort();
    expect((await call).code).toBe('cancelled');
    const { parts } = await use(mcp.named('mcp_every_echo'), { message: 'still there' }, context);
    expect(textOf(parts)).toBe('Echo: still there');
  });
});

test('a killed HTTP server is reconnected under a new session when it is back', async () => {
  const port = freePort();
  const first = await serve(port);
  await using mcp = await opened({ every: { url: `http://127.0.0.1:${port}/mcp` } });
  const echo = mcp.named('mcp_every_echo');
  await first[Symbol.asyncDispose]();
  expect((await faultOf(use(echo, { message: 'a' }, context))).message).toContain('was lost');
  expect((await faultOf(use(echo, { message: 'a' }, context))).message).toContain('is not running');
  await using _second = await serve(port);
  const text = await eventually(() =>
    use(echo, { message: 'back' }, context).then(
      ({ parts }) => textOf(parts),
      () => false as const,
    ),
  );
  expect(text).toBe('Echo: back');
});

test('a server gets a minimal environment and its own variables', async () => {
  process.env.OPENAI_TEST_SECRET = 'not for others';
  await using mcp = await opened({ every: { ...everything, env: { OWN: 'its own' } } });
  delete process.env.OPENAI_TEST_SECRET;
  const text = textOf((await use(mcp.named('mcp_every_get-env'), {}, context)).parts);
  const names = Object.keys(JSON.parse(text));
  expect(names).toContain('OWN');
  expect(names).toContain('PATH');
  expect(names).not.toContain('OPENAI_TEST_SECRET');
});

describe('server-filesystem', () => {
  const files = (root: string) => ({ files: { command: bun, args: [FILESYSTEM, root], trusted: true } });

  test('reads without approval and writes with approval, inside its folder', async () => {
    await using place = await toolFixture();
    await place.write('a.txt', 'words');
    await using mcp = await opened(files(place.root));
    const read = mcp.named('mcp_files_read_text_file');
    const write = mcp.named('mcp_files_write_file');
    // Long enough that its end would be cut off.
    const input = { path: `${place.root}/b.txt`, content: `${'new '.repeat(2_000)}end` };

    expect([read.asks, write.asks]).toEqual([false, true]);
    expect(await read.approval({}, place)).toBeNull();
    expect(await write.approval(input, place)).toEqual({
      kind: 'other',
      command: ['mcp_files_write_file', JSON.stringify(input)],
      description: `Uses the tool write_file of the MCP server files. The call: mcp_files_write_file ${JSON.stringify(input)}`,
      grant: expect.stringMatching(/^mcp:files@1-[0-9a-f]{12}:write_file$/),
    });

    const result = await use(read, { path: `${place.root}/a.txt` }, context);
    expect(textOf(result.parts)).toBe('words');
    expect(result.untrusted).toBeUndefined();
    await use(write, input, context);
    expect(await place.read('b.txt')).toBe(input.content);
    expect(await use(read, { path: '/etc/passwd' }, context)).toMatchObject({ failed: true });
  });
});
