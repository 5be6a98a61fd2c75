/** Files that change between the request of an approval and the call. */
import { describe, expect, test } from 'bun:test';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CallId, type DurableEvent, textOf } from '@parlance/protocol';
import type { Tool } from '../core/ports/tool.ts';
import { contextIn, type ToolFixture, toolFixture, use } from '../testing/tools/tool-context.ts';
import { applyPatchTool } from './patch/tool.ts';
import { saveFile } from './save-file.ts';
import { shell } from './shell/tool.ts';

const guard = { hide: [] };
const save = (path: string): [Tool, object] => [saveFile(guard), { path, content: 'new\n' }];
const patch = (body: string): [Tool, object] => [
  applyPatchTool(guard),
  { patch: `*** Begin Patch\n${body}\n*** End Patch` },
];
const inShell = (body: string): [Tool, object] => [
  shell('shell', { sandbox: null, ...guard }),
  { command: ['apply_patch', `*** Begin Patch\n${body}\n*** End Patch`] },
];

const FILES = { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n', 'folder/c.txt': 'c\n', 'other/c.txt': 'c\n' };

/** Requests the approval, lets something else happen, and runs the approved call. Returns its text. */
async function approvedCall(
  place: ToolFixture,
  [tool, input]: [Tool, object],
  meanwhile: () => Promise<unknown>,
) {
  for (const [path, content] of Object.entries(FILES)) await place.write(path, content);
  const ask = await tool.approval(tool.input.parse(input), place);
  await meanwhile();
  const asked = { type: 'approval.requested', call: CallId.parse('call'), ask } as DurableEvent;
  const context = contextIn(place.root, { permission: 'approved', eventsSinceIdle: [asked] });
  return use(tool, input, context).then(
    ({ parts }) => textOf(parts),
    (thrown: Error) => thrown.message,
  );
}

const ADD = '*** Add File: a.txt\n+new';
const DELETE = '*** Delete File: a.txt';
const UPDATE = '*** Update File: a.txt\n@@\n-two\n+three';
const MOVE = '*** Update File: a.txt\n*** Move to: b.txt\n@@\n-two\n+three';
const BOTH = '*** Add File: new.txt\n+x\n*** Delete File: a.txt';

describe('a call is refused, and what is there now stays, if after the request', () => {
  const CASES: [
    name: string,
    call: [Tool, object],
    change: (at: (path: string) => string) => Promise<unknown>,
  ][] = [
    ['the file to replace was written', save('a.txt'), (at) => writeFile(at('a.txt'), 'theirs\n')],
    ['the file to create was created', save('n.txt'), (at) => writeFile(at('n.txt'), 'theirs\n')],
    ['the file to replace was removed', save('a.txt'), (at) => rm(at('a.txt'))],
    [
      'the file became a link inside the root',
      save('a.txt'),
      (at) => rm(at('a.txt')).then(() => symlink('b.txt', at('a.txt'))),
    ],
    [
      'the file became a link out of the root',
      save('a.txt'),
      (at) => rm(at('a.txt')).then(() => symlink('../outside.txt', at('a.txt'))),
    ],
    [
      'the folder became a link inside the root, to a file with the same content',
      save('folder/c.txt'),
      (at) => rename(at('folder'), at('away')).then(() => symlink('other', at('folder'))),
    ],
    [
      'the folder became a link out of the root',
      save('folder/c.txt'),
      async (at) => {
        await mkdir(at('../beyond'));
        await rename(at('folder'), at('away'));
        await symlink('../beyond', at('folder'));
      },
    ],
    ['a file that a patch replaces was written', patch(ADD), (at) => writeFile(at('a.txt'), 'theirs\n')],
    ['a file that a patch deletes was written', patch(DELETE), (at) => writeFile(at('a.txt'), 'theirs\n')],
    ['the target of a move was written', patch(MOVE), (at) => writeFile(at('b.txt'), 'theirs\n')],
    [
      'a file of a patch in a shell call was written',
      inShell(DELETE),
      (at) => writeFile(at('a.txt'), 'theirs\n'),
    ],
    ['one of two files of a patch was written', patch(BOTH), (at) => writeFile(at('a.txt'), 'theirs\n')],
    [
      'a file that a patch changes became a link to one with the same lines',
      patch(UPDATE),
      (at) => rename(at('a.txt'), at('b.txt')).then(() => symlink('b.txt', at('a.txt'))),
    ],
  ];
  test.each(CASES)('%s', async (_, call, change) => {
    await using place = await toolFixture();
    const at = (path: string) => join(place.root, path);
    let before = '';
    const text = await approvedCall(place, call, async () => {
      await change(at);
      before = await listing(place);
    });
    expect(text).toMatch(/has changed since the approval|outside the working folder|leads? out|dangling/);
    expect(await listing(place)).toBe(before);
  });
});

/** Every file below the temporary folder, with its content. */
const listing = async ({ outside }: ToolFixture): Promise<string> => {
  const found = await readdir(outside, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const lines = files.sort().map(async (path) => `${path}: ${await readFile(path, 'utf8')}`);
  return (await Promise.all(lines)).join('');
};

describe('a call runs', () => {
  const CALLS: [name: string, call: [Tool, object], done: string][] = [
    ['that replaces a file', save('a.txt'), 'Saved a.txt'],
    ['that creates a file in a new folder', save('x/y/z.txt'), 'Saved x/y/z.txt'],
    ['with a patch that replaces', patch(ADD), 'A a.txt (replaced)'],
    ['with a patch that deletes and creates', patch(BOTH), 'D a.txt'],
    ['with a patch that moves onto another file', patch(MOVE), 'M b.txt (was a.txt, replaced)'],
    [
      'with a patch that changes the same file twice',
      patch(`${UPDATE}\n*** Update File: a.txt\n@@\n-three\n+four`),
      'M a.txt',
    ],
    ['with a patch that deletes and adds the same file', patch(`${DELETE}\n${ADD}`), 'A a.txt'],
    ['with a patch in a shell call', inShell(DELETE), 'D a.txt'],
  ];
  test.each(CALLS)('%s, if nothing has changed', async (_, call, done) => {
    await using place = await toolFixture();
    expect(await approvedCall(place, call, async () => place.write('else.txt', 'x'))).toContain(done);
  });

  test('with a patch, if only other lines of the file have changed', async () => {
    await using place = await toolFixture();
    const text = await approvedCall(place, patch(UPDATE), () => place.write('a.txt', 'zero\none\ntwo\n'));
    expect(text).toContain('M a.txt');
    expect(await place.read('a.txt')).toBe('zero\none\nthree\n');
  });

  test('again after a crash that interrupted it after the file was written', async () => {
    await using place = await toolFixture();
    expect(await approvedCall(place, save('a.txt'), () => place.write('a.txt', 'new\n'))).toContain(
      'Saved a.txt',
    );
  });
});
