import { expect, test } from 'bun:test';
import { chmod, lstat, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { contextIn, faultOf, type ToolFixture, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { applyPatchTool } from './tool.ts';

const tool = applyPatchTool({ hide: [] });
const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const apply = (place: ToolFixture, text: string) => use(tool, { patch: text }, contextIn(place.root));
const approve = (place: ToolFixture, text: string, hide: string[] = []) =>
  Promise.resolve(applyPatchTool({ hide }).approval({ patch: text }, { root: place.root }));

test('adds, changes, moves and deletes, and lists its changes', async () => {
  await using place = await toolFixture();
  await place.write('change.txt', 'a\nb\n');
  await place.write('move.txt', 'x\n');
  await place.write('gone.txt', 'x');
  await chmod(join(place.root, 'move.txt'), 0o755);
  const result = await apply(
    place,
    patch(
      '*** Add File: deep/er/new.txt',
      '+one',
      '*** Update File: change.txt',
      '-b',
      '+c',
      '*** Update File: move.txt',
      '*** Move to: sub/moved.txt',
      '-x',
      '+y',
      '*** Delete File: gone.txt',
    ),
  );
  const output = 'Applied:\nA deep/er/new.txt\nM change.txt\nM sub/moved.txt (was move.txt)\nD gone.txt';
  expect(result).toMatchObject({
    parts: [{ type: 'text', text: output }],
    data: { output, exit_code: 0 },
    failed: false,
  });
  expect(await place.read('deep/er/new.txt')).toBe('one\n');
  expect(await place.read('change.txt')).toBe('a\nc\n');
  expect(await place.read('sub/moved.txt')).toBe('y\n');
  expect((await stat(join(place.root, 'sub/moved.txt'))).mode & 0o777).toBe(0o755);
  expect((await readdir(place.root)).sort()).toEqual(['change.txt', 'deep', 'sub']);
});

test('stops at the first failure: earlier changes stay, and the output lists them', async () => {
  await using place = await toolFixture();
  await place.write('b.txt', 'first\nsecond\n');
  const result = await apply(
    place,
    patch(
      '*** Add File: a.txt',
      '+a',
      '*** Update File: b.txt',
      '@@',
      '-first',
      '@@',
      '-third',
      '*** Add File: c.txt',
      '+c',
    ),
  );
  expect(result.failed).toBe(true);
  expect(result.data).toMatchObject({ exit_code: 1 });
  expect(result.data?.output).toBe(
    'The patch stopped: b.txt: cannot find these lines:\nthird\nApplied before that:\nA a.txt',
  );
  expect(await place.read('a.txt')).toBe('a\n');
  expect(await place.read('b.txt')).toBe('first\nsecond\n');
  expect((await readdir(place.root)).sort()).toEqual(['a.txt', 'b.txt']);
});

test.each([
  ['adding a file where a folder is', ['*** Add File: folder', '+x'], 'folder: it is not a file'],
  ['deleting a file that does not', ['*** Delete File: b'], 'b: there is no such file'],
  ['deleting a folder', ['*** Delete File: folder'], 'folder: it is not a file'],
  ['changing a file that is not there', ['*** Update File: b', '+x'], 'b: there is no such file'],
  ['moving onto a folder', ['*** Update File: a', '*** Move to: folder', '+x'], 'a: it is not a file'],
  ['changing what is not text', ['*** Update File: binary', '+x'], 'binary: it is not text in UTF-8'],
  ['going through a file', ['*** Add File: a/b', '+x'], undefined],
])('%s fails', async (_, lines, reason) => {
  await using place = await toolFixture();
  await place.write('a', 'a\n');
  await place.write('c', 'c\n');
  await place.write('binary', new Uint8Array([0xff, 0xfe, 0x80]));
  await mkdir(join(place.root, 'folder'));
  const outcome = await apply(place, patch(...lines)).catch((thrown) => ({ failed: true, data: thrown }));
  expect(outcome.failed).toBe(true);
  if (reason) expect(outcome.data?.output).toContain(reason);
  expect((await readdir(place.root)).sort()).toEqual(['a', 'binary', 'c', 'folder']);
});

const ESCAPES = [
  ['*** Add File: ../escaped', '+x'],
  ['*** Add File: /escaped', '+x'],
  ['*** Add File: sub/../../escaped', '+x'],
  ['*** Add File: folder-link/escaped', '+x'],
  ['*** Add File: folder-link/deep/escaped', '+x'],
  ['*** Add File: dangling', '+x'],
  ['*** Update File: file-link', '-target', '+x'],
  ['*** Delete File: file-link'],
  ['*** Delete File: folder-link/target'],
  ['*** Update File: inside', '*** Move to: ../escaped', '+x'],
  ['*** Update File: inside', '*** Move to: folder-link/escaped', '+x'],
];

test.each(ESCAPES.map((lines) => [lines]))('never leaves the root: %j', async (lines) => {
  await using place = await toolFixture();
  await Bun.write(join(place.outside, 'target'), 'target\n');
  await place.write('inside', 'inside\n');
  await symlink(place.outside, join(place.root, 'folder-link'));
  await symlink(join(place.outside, 'target'), join(place.root, 'file-link'));
  await symlink(join(place.outside, 'escaped'), join(place.root, 'dangling'));
  // A valid change before the invalid one is not made either.
  const text = patch('*** Add File: good', '+x', ...lines);
  const ask = await approve(place, text);
  expect(ask?.kind).toBe('other');
  expect(ask?.grant).toBeUndefined();
  await faultOf(apply(place, text));
  expect((await readdir(place.outside)).sort()).toEqual(['root', 'target']);
  expect(await Bun.file(join(place.outside, 'target')).text()).toBe('target\n');
  expect((await readdir(place.root)).sort()).toEqual(['dangling', 'file-link', 'folder-link', 'inside']);
});

test('a symlink swap between approval and application is detected', async () => {
  await using place = await toolFixture();
  await place.write('folder/a.txt', 'a\n');
  const text = patch('*** Add File: folder/b.txt', '+x');
  expect((await approve(place, text))?.kind).toBe('edit');
  await rm(join(place.root, 'folder'), { recursive: true });
  await symlink(place.outside, join(place.root, 'folder'));
  expect((await faultOf(apply(place, text))).code).toBe('tool_invalid');
  expect(await readdir(place.outside)).toEqual(['root']);
});

test('a link that stays inside is followed for a change, and deleted itself', async () => {
  await using place = await toolFixture();
  await place.write('real', 'a\n');
  await symlink('real', join(place.root, 'link'));
  await apply(place, patch('*** Update File: link', '-a', '+b'));
  expect(await place.read('real')).toBe('b\n');
  expect((await lstat(join(place.root, 'link'))).isSymbolicLink()).toBe(true);
  await apply(place, patch('*** Delete File: link'));
  expect(await readdir(place.root)).toEqual(['real']);
});

test('a root that is a link works', async () => {
  await using place = await toolFixture();
  await symlink(place.root, join(place.outside, 'alias'));
  const root = join(place.outside, 'alias');
  await use(tool, { patch: patch('*** Add File: a', '+x') }, contextIn(root));
  await use(tool, { patch: patch(`*** Add File: ${root}/b`, '+x') }, contextIn(root));
  expect((await readdir(place.root)).sort()).toEqual(['a', 'b']);
});

test('the approval shows the patch', async () => {
  await using place = await toolFixture();
  const text = patch('*** Add File: a', '+x', '*** Delete File: b');
  expect(await approve(place, text)).toEqual({
    kind: 'edit',
    command: ['apply_patch', text],
    patch: text,
    description: 'A patch that adds a, deletes b.',
    grant: 'apply_patch',
    seen: [expect.any(String), expect.any(String)],
  });
});

test('adding and moving onto existing files replaces them, and the approval states it', async () => {
  await using place = await toolFixture();
  for (const name of ['a', 'b', 'c']) await place.write(name, `old ${name}\n`);
  await chmod(join(place.root, 'a'), 0o755);
  const text = patch('*** Add File: a', '+new', '*** Update File: b', '*** Move to: c', '-old b', '+moved');
  expect(await approve(place, text)).toMatchObject({
    kind: 'edit',
    description: 'A patch that writes a, moves b to c. It replaces the existing files a, c.',
    replaces: ['a', 'c'],
  });
  const result = await apply(place, text);
  expect(result.data?.output).toBe('Applied:\nA a (replaced)\nM c (was b, replaced)');
  expect(await place.read('a')).toBe('new\n');
  expect(await place.read('c')).toBe('moved\n');
  expect((await stat(join(place.root, 'a'))).mode & 0o777).toBe(0o755);
  expect((await readdir(place.root)).sort()).toEqual(['a', 'c']);
});

test('a move onto itself and a file created by the patch replace nothing', async () => {
  await using place = await toolFixture();
  await place.write('a', 'x\n');
  const text = patch(
    '*** Update File: a',
    '*** Move to: ./a',
    '+y',
    '*** Add File: b',
    '+1',
    '*** Add File: b',
    '+2',
  );
  expect(await approve(place, text)).not.toHaveProperty('replaces');
  const asked = { type: 'approval.requested', call: 'call', ask: await approve(place, text) } as never;
  const result = await use(tool, { patch: text }, contextIn(place.root, { eventsSinceIdle: [asked] }));
  expect(result.failed).toBe(false);
  expect(await place.read('b')).toBe('2\n');
});

test('an approved patch does not replace a file that appeared after the approval', async () => {
  await using place = await toolFixture();
  const text = patch('*** Add File: a', '+x');
  const asked = { type: 'approval.requested', call: 'call', ask: await approve(place, text) } as never;
  await place.write('a', 'precious\n');
  const result = await use(tool, { patch: text }, contextIn(place.root, { eventsSinceIdle: [asked] }));
  expect(result.data?.output).toContain('a has changed since the approval was requested');
  expect(await place.read('a')).toBe('precious\n');
});

test('an indented file header is context if the file has that line', async () => {
  await using place = await toolFixture();
  const text = patch('*** Update File: guide', '@@', '-old', '+new', ' *** Delete File: a');
  await place.write('a', 'x\n');
  await place.write('guide', 'old\n*** Delete File: a\n');
  expect((await approve(place, text))?.description).toBe('A patch that changes guide, deletes a.');
  await apply(place, text);
  expect(await place.read('guide')).toBe('new\n*** Delete File: a\n');
  await place.write('guide', 'old\n');
  await apply(place, text);
  expect(await readdir(place.root)).toEqual(['guide']);
});

test('a text that is not a patch needs no approval: it fails and changes nothing', async () => {
  await using place = await toolFixture();
  expect(await approve(place, 'no patch')).toBeNull();
  expect((await faultOf(apply(place, 'no patch'))).code).toBe('tool_invalid');
});

test('a patch to a git folder is more than an edit, and no standing grant covers it', async () => {
  await using place = await toolFixture();
  await mkdir(join(place.root, '.git'));
  await symlink('.git', join(place.root, 'link'));
  for (const path of [
    '.git/config',
    '.git/hooks/pre-commit',
    'sub/.git/config',
    '.GIT/config',
    'link/config',
  ]) {
    const ask = await approve(place, patch(`*** Add File: ${path}`, '+x'));
    expect([path, ask?.kind, ask?.grant]).toEqual([path, 'other', undefined]);
  }
});

test('the hidden folder is closed', async () => {
  await using place = await toolFixture();
  const hide = [join(place.root, '.data')];
  await place.write('.data/key', 'secret\n');
  const text = patch('*** Update File: .data/key', '-secret', '+mine');
  expect((await approve(place, text, hide))?.kind).toBe('other');
  const fault = await faultOf(use(applyPatchTool({ hide }), { patch: text }, contextIn(place.root)));
  expect(fault.message).toContain('closed to tools');
  expect(await place.read('.data/key')).toBe('secret\n');
});

test('an abort stops before the next file', async () => {
  await using place = await toolFixture();
  const context = contextIn(place.root, { signal: AbortSignal.abort() });
  const result = await use(tool, { patch: patch('*** Add File: a', '+x') }, context);
  expect(result.data?.output).toBe('The patch stopped: it was aborted\nNothing was applied.');
  expect(await readdir(place.root)).toEqual([]);
});
