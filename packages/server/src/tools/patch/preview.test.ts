import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { contextIn, type ToolFixture, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { applyPatchTool } from './tool.ts';

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

const filesOf = async (place: ToolFixture, text: string, hide: string[] = []) =>
  (await applyPatchTool({ hide }).approval({ patch: text }, { root: place.root }))?.files;

test('an approval shows where each hunk begins, as it will be applied', async () => {
  await using place = await toolFixture();
  await place.write('a.txt', 'one\ntwo\nthree\ntwo\nend\n');
  const text = patch('*** Update File: a.txt', '@@ three', '-two', '+zwei', '@@', ' end', '+more');
  expect(await filesOf(place, text)).toEqual([{ path: 'a.txt', hunks: [4, 5] }]);
  await use(applyPatchTool({ hide: [] }), { patch: text }, contextIn(place.root));
  expect(await place.read('a.txt')).toBe('one\ntwo\nthree\nzwei\nend\nmore\n');
});

test('without approval, the result shows the files as they were', async () => {
  await using place = await toolFixture();
  await place.write('a.txt', 'one\ntwo\n');
  await place.write('gone.txt', 'last words\n');
  const text = patch('*** Update File: a.txt', '@@', '-two', '+zwei', '*** Delete File: gone.txt');
  const { data } = await use(applyPatchTool({ hide: [] }), { patch: text }, contextIn(place.root));
  expect(data?.files).toEqual([
    { path: 'a.txt', hunks: [2] },
    { path: 'gone.txt', content: 'last words\n' },
  ]);
});

test('a deleted file is shown with its content, unless it is not text or very long', async () => {
  await using place = await toolFixture();
  await place.write('gone.txt', 'last\nwords\n');
  await place.write('long.txt', 'x'.repeat(100_001));
  await Bun.write(join(place.root, 'picture.bin'), new Uint8Array([0xff, 0xfe, 0x00]));
  const paths = ['gone.txt', 'long.txt', 'picture.bin', 'missing.txt'];
  expect(await filesOf(place, patch(...paths.map((path) => `*** Delete File: ${path}`)))).toEqual([
    { path: 'gone.txt', content: 'last\nwords\n' },
  ]);
});

test('a hunk that does not match and a new file are left out', async () => {
  await using place = await toolFixture();
  await place.write('a.txt', 'one\n');
  const text = patch('*** Update File: a.txt', '-two', '+zwei', '*** Add File: b.txt', '+b');
  expect(await filesOf(place, text)).toBeUndefined();
});

test('a hidden file is not read', async () => {
  await using place = await toolFixture();
  await place.write('secret.txt', 'a password');
  const text = patch('*** Delete File: secret.txt');
  expect(await filesOf(place, text, [join(place.root, 'secret.txt')])).toBeUndefined();
});
