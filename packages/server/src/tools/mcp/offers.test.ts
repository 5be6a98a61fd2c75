/** Prompts and resources of the reference server, and of one that changes them. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { EVERYTHING, eventually, opened } from '../../testing/tools/mcp.ts';
import { toolFixture } from '../../testing/tools/tool-context.ts';

const CHANGING = join(import.meta.dir, '../../testing/tools/mcp-changing-server.ts');

const everything = (more: object = {}) => opened({ ref: { command: 'node', args: [EVERYTHING], ...more } });

test('prompts and resources are listed for users, and become parts of a message', async () => {
  await using mcp = await everything();
  const [listed] = await mcp.offers.list('local');
  expect(listed?.server).toBe('ref');
  expect(listed?.prompts.map(({ name }) => name)).toContain('args-prompt');
  const parts = await mcp.offers.prompt('ref', 'local', 'args-prompt', { city: 'Oslo', state: 'NO' });
  expect(parts).toMatchObject([{ type: 'text', text: expect.stringContaining('Oslo') }]);
  const uri = listed?.resources[0]?.uri ?? '';
  // Untrusted content: a page, which taints the session as one that an agent has read.
  expect(await mcp.offers.resource('ref', 'local', uri)).toMatchObject([
    { type: 'page', url: uri, text: expect.stringMatching(/^<resource server="ref" uri=/) },
  ]);
});

test('a resource of a trusted server is a file', async () => {
  await using mcp = await everything({ trusted: true });
  const [listed] = await mcp.offers.list('local');
  const uri = listed?.resources[0]?.uri ?? '';
  expect(await mcp.offers.resource('ref', 'local', uri)).toMatchObject([
    { type: 'file', data: expect.any(String) },
  ]);
});

test('what is not there is refused in words', async () => {
  await using mcp = await everything();
  await expect(mcp.offers.prompt('other', 'local', 'x', {})).rejects.toMatchObject({ code: 'not_found' });
  await expect(mcp.offers.prompt('ref', 'local', 'no-such-prompt', {})).rejects.toMatchObject({
    code: 'invalid',
  });
  await expect(mcp.offers.resource('ref', 'local', 'file:///etc/passwd')).rejects.toMatchObject({
    code: 'invalid',
  });
});

test('listeners learn that a server has changed its prompts', async () => {
  await using place = await toolFixture();
  await place.write('definition.json', JSON.stringify({ name: 'look', inputSchema: { type: 'object' } }));
  await using mcp = await opened({
    changing: { command: process.execPath, args: [CHANGING], cwd: place.root },
  });
  const named = async () =>
    (await mcp.offers.list('local')).flatMap(({ prompts }) => prompts.map(({ name }) => name));
  expect(await named()).toEqual([]);
  let told = 0;
  const stop = mcp.offers.onChange(() => void told++);
  await place.write('prompts.json', JSON.stringify([{ name: 'fresh' }]));
  await eventually(() => told > 0);
  expect(await named()).toEqual(['fresh']);
  stop();
});
