import { expect, test } from 'bun:test';
import { toolNames } from './names.ts';

const named = (...keys: [server: string, tool: string][]) =>
  toolNames(keys.map(([server, tool]) => ({ server, tool })));

test('a tool is named after its server and itself', () => {
  expect(named(['files', 'read_file'], ['web', 'get-sum'])).toEqual([
    'mcp_files_read_file',
    'mcp_web_get-sum',
  ]);
});

test.each([
  ['a', 'read file'],
  ['a', 'read.file'],
  ['a', 'läs'],
  ['a', '😀'],
  ['a', ''],
  ['a', 'x'.repeat(200)],
  ['a'.repeat(32), 'x'.repeat(28)],
])('the tool %j %j has a name that every vendor takes', (server, tool) => {
  expect(named([server, tool])[0]).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
});

test('tools with colliding names get different names', () => {
  const names = named(['a', 'b_c'], ['a_b', 'c'], ['a', 'b c'], ['a', 'b.c'], ['a', 'b_c']);
  expect(new Set(names.slice(0, 4)).size).toBe(4);
  const long = named(['a', `${'x'.repeat(80)}1`], ['a', `${'x'.repeat(80)}2`]);
  expect(new Set(long).size).toBe(2);
  for (const name of [...names, ...long]) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
});

test('a marked name means the same tool whatever the other tools are', () => {
  expect(named(['a', 'b c'], ['a', 'd'])[0]).toBe(named(['z', 'y'], ['a', 'b c'])[1] ?? '');
});
