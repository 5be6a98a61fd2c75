import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCustomTools } from './load.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-custom-tools-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;

function fileWith(source: string): string {
  const path = join(folder, `tools ${files++} #.ts`);
  writeFileSync(path, source);
  return path;
}

const tool = (fields = '') =>
  `export const tool = { name: 'a', description: 'A.', parameters: { type: 'object' }, run: () => 1, ${fields} };`;

test.each([
  ['export const a: = 1;', 'cannot be loaded: line 1: Unexpected ='],
  ['import "nowhere-at-all";', "cannot be loaded: Cannot find package 'nowhere-at-all' imported from FILE"],
  ['throw new Error("no\\ndatabase");', 'cannot be loaded: no'],
  ['const a = 1;', 'exports no tool'],
  ['export const a = 1;', 'exports something that is not a tool'],
  [tool("name: 'a b'"), 'has a tool a b whose name must have 1 to 64 letters, digits, _ or -'],
  [tool('description: undefined'), 'has a tool a whose description must be text'],
  [tool("approval: 'no'"), 'has a tool a whose approval must be always, never or a function'],
  [tool('timeoutMs: 0'), 'has a tool a whose timeoutMs must be at least 1'],
  [tool('run: 1'), 'has a tool a whose run must be a function'],
  [
    tool("parameters: { type: 'string' }"),
    'has a tool a with unusable parameters: they must describe an object',
  ],
  [tool("name: 'shell'"), 'has a tool shell, a name that another tool has'],
  [tool("name: 'mcp_a'"), 'has a tool mcp_a, a name that another tool has'],
])('%j is refused in one line', async (source, reason) => {
  const path = fileWith(source);
  const message = await loadCustomTools([path], ['shell']).then(String, ({ message }: Error) => message);
  expect(message.replaceAll(path, 'FILE')).toBe(`the tool module FILE ${reason}`);
});

test('a missing file is refused', async () => {
  const path = join(folder, 'none.ts');
  await expect(loadCustomTools([path], [])).rejects.toThrow(`the tool module ${path} does not exist`);
});

test('two modules cannot have a tool of the same name', async () => {
  await expect(loadCustomTools([fileWith(tool()), fileWith(tool())], [])).rejects.toThrow('another tool has');
});

test('needs no installed package, and no defineTool', async () => {
  const typed = `import { defineTool, z } from '@parlance/sdk/tools';
    export const b = defineTool({ name: 'b', description: 'B.', parameters: z.object({ n: z.int() }), run: () => 1 });`;
  const tools = await loadCustomTools([fileWith(tool()), fileWith(typed)], []);
  expect(tools.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(tools[1]?.parameters).toMatchObject({ properties: { n: { type: 'integer' } }, required: ['n'] });
});
