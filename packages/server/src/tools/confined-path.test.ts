import { describe, expect, test } from 'bun:test';
import { mkdir, readFile as read, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '@parlance/protocol';
import type { Tool } from '../core/ports/tool.ts';
import {
  contextIn,
  faultOf,
  type ToolFixture,
  textFrom,
  toolFixture,
} from '../testing/tools/tool-context.ts';
import { resolvePath } from './confined-path.ts';
import { listFiles } from './list-files.ts';
import { applyPatchTool } from './patch/tool.ts';
import { readFile } from './read-file.ts';
import { saveFile } from './save-file.ts';
import { searchFiles } from './search/tool.ts';

const OPEN = { hide: [] };
const reader = readFile(OPEN);
const saver = saveFile(OPEN);
const patcher = applyPatchTool(OPEN);

const patch = (text: string) => ({ patch: `*** Begin Patch\n${text}\n*** End Patch` });
const run = (tool: Tool, place: ToolFixture, input: object) => textFrom(tool, input, contextIn(place.root));

function faultOnly(thrown: unknown): void {
  if (!(thrown instanceof Fault)) throw thrown;
}

describe('links that stay inside the root work', () => {
  async function linked(): Promise<ToolFixture> {
    const place = await toolFixture();
    await place.write('real/deep/a.txt', 'a\n');
    await symlink('real', join(place.root, 'relative'));
    await symlink(join(place.root, 'real/deep'), join(place.root, 'absolute'));
    await symlink('../real/deep/../deep/a.txt', join(place.root, 'real', 'winding'));
    return place;
  }

  test('for reading and listing', async () => {
    await using place = await linked();
    for (const path of ['relative/deep/a.txt', 'absolute/a.txt', 'real/winding', 'relative/winding'])
      expect([path, await run(reader, place, { path })]).toEqual([path, 'a\n']);
    expect(await run(listFiles(OPEN), place, { path: 'relative' })).toBe('real/deep/\nreal/winding@');
    expect(await run(searchFiles({ ...OPEN, ripgrep: null }), place, { query: 'a', path: 'absolute' })).toBe(
      'real/deep/a.txt:1:a',
    );
  });

  test('for writing, changing, moving and deleting', async () => {
    await using place = await linked();
    await run(saver, place, { path: 'relative/new/b.txt', content: 'b' });
    expect(await place.read('real/new/b.txt')).toBe('b');
    await run(patcher, place, patch('*** Update File: absolute/a.txt\n*** Move to: relative/c.txt\n-a\n+c'));
    expect(await place.read('real/c.txt')).toBe('c\n');
    await run(patcher, place, patch('*** Delete File: relative/c.txt'));
    expect((await readdir(join(place.root, 'real'))).sort()).toEqual(['deep', 'new', 'winding']);
  });
});

test('links that lead outside, in a loop or nowhere are refused', async () => {
  await using place = await toolFixture();
  await Bun.write(join(place.outside, 'a.txt'), 'outside');
  await symlink('..', join(place.root, 'up'));
  await symlink(place.outside, join(place.root, 'absolute'));
  await symlink('circle', join(place.root, 'circle'));
  await symlink('missing', join(place.root, 'nowhere'));
  for (const path of ['up/a.txt', 'absolute/a.txt', 'up/root/../a.txt'])
    expect([path, (await faultOf(resolvePath({ root: place.root, ...OPEN }, path))).code]).toEqual([
      path,
      'tool_invalid',
    ]);
  for (const path of ['circle', 'nowhere', 'nowhere/x'])
    expect((await faultOf(run(saver, place, { path, content: 'x' }))).code).toBe('tool_failed');
  expect((await readdir(place.outside)).sort()).toEqual(['a.txt', 'root']);
});

test('no folder is created if the file may not be written', async () => {
  await using place = await toolFixture();
  await place.write('data/key', 'x');
  await place.write('code/a.ts', 'x');
  const guard = { hide: [join(place.root, 'data')], readOnly: [join(place.root, 'code')] };
  for (const path of ['data/new/x', 'code/new/x', '.git/hooks/new/x', '.parlance/config.json']) {
    const saving = textFrom(saveFile(guard), { path, content: 'x' }, contextIn(place.root));
    expect([path, (await faultOf(saving)).code]).toEqual([path, 'tool_invalid']);
  }
  expect((await readdir(place.root, { recursive: true })).sort()).toEqual([
    'code',
    'code/a.ts',
    'data',
    'data/key',
  ]);
});

describe('a git folder, whatever path leads to it', () => {
  async function withLinkedGit(): Promise<ToolFixture> {
    const place = await toolFixture();
    for (const path of ['store/HEAD', 'store/config', 'store/objects/x', 'store/refs/x', 'store/hooks/x'])
      await place.write(path, 'x\n');
    await symlink('store', join(place.root, '.git'));
    await symlink('store/hooks', join(place.root, 'innocent'));
    return place;
  }
  const PATHS = ['.git/hooks/pre-commit', 'store/hooks/pre-commit', 'innocent/pre-commit'];
  const add = (path: string) => patch(`*** Add File: ${path}\n+x`);

  test('needs approval, and is not changed by an unapproved call', async () => {
    await using place = await withLinkedGit();
    for (const path of PATHS) {
      const save = { path, content: 'x' };
      expect((await saver.approval(save, { root: place.root }))?.kind).toBe('other');
      expect((await patcher.approval(add(path), { root: place.root }))?.kind).toBe('other');
      expect((await faultOf(run(saver, place, save))).code).toBe('tool_invalid');
      expect(await run(patcher, place, add(path))).toContain('after approval');
    }
    expect(await readdir(join(place.root, 'store/hooks'))).toEqual(['x']);
  });

  test('is changed under its own name by an approved call, and never through a link', async () => {
    await using place = await withLinkedGit();
    const approved = contextIn(place.root, { permission: 'approved' });
    for (const path of ['.git/hooks/pre-commit', 'innocent/pre-commit'])
      expect((await faultOf(textFrom(saver, { path, content: 'x' }, approved))).code).toBe('tool_invalid');
    await textFrom(saver, { path: 'store/hooks/pre-commit', content: 'x' }, approved);
    expect((await readdir(join(place.root, 'store/hooks'))).sort()).toEqual(['pre-commit', 'x']);
  });

  test('cannot be assembled file by file without approval; files with the same names in other folders can', async () => {
    await using place = await toolFixture();
    for (const path of ['lib/config', 'lib/objects/x', 'lib/refs/x', 'docs/HEAD', 'src/config'])
      await run(saver, place, { path, content: 'x' });
    expect((await saver.approval({ path: 'lib/HEAD', content: 'x' }, { root: place.root }))?.kind).toBe(
      'other',
    );
    expect((await faultOf(run(saver, place, { path: 'lib/HEAD', content: 'x' }))).code).toBe('tool_invalid');
    expect((await saver.approval({ path: 'src/a', content: 'x' }, { root: place.root }))?.kind).toBe('edit');
  });
});

test('descriptors are closed when the call ends', async () => {
  await using place = await toolFixture();
  await place.write('a/b/c.txt', 'c');
  const open = async () => (await readdir('/proc/self/fd')).length;
  const before = await open();
  for (let round = 0; round < 20; round++) {
    await run(reader, place, { path: 'a/b/c.txt' });
    await run(saver, place, { path: 'a/d/e.txt', content: 'e' });
    await faultOf(run(reader, place, { path: 'a/b/none' }));
    await faultOf(run(reader, place, { path: 'a/none/none' }));
  }
  expect(await open()).toBeLessThanOrEqual(before);
});

/** While `box` is swapped for a link that leads outside. Both contain the same names, so that a swap is not noticed. */
describe.skipIf(process.platform !== 'linux')('a folder swapped for a link does not lead outside', () => {
  /** More rounds than that until `worked`: the swap may come in between each time. */
  async function raced(
    rounds: number,
    use: (place: ToolFixture, round: number) => Promise<unknown>,
    worked: (place: ToolFixture) => Promise<boolean> = async () => true,
  ): Promise<{ place: ToolFixture; said: string }> {
    const place = await toolFixture();
    const far = join(place.outside, 'far');
    await mkdir(join(far, 'sub'), { recursive: true });
    for (const folder of [far, join(place.root, 'box')]) {
      await mkdir(join(folder, 'sub'), { recursive: true });
      const word = folder === far ? 'OUTSIDE' : 'inside';
      await Bun.write(join(folder, 'a.txt'), `${word}\n`);
      await Bun.write(join(folder, 'sub/a.txt'), `word ${word}\n`);
      await Bun.write(join(folder, `sub/only-${word}`), '');
    }
    await symlink(far, join(place.root, 'lure'));
    const program = join(import.meta.dir, '../testing/swap-entries.ts');
    const swapping = Bun.spawn(
      [process.execPath, program, join(place.root, 'box'), join(place.root, 'lure')],
      { stdout: 'pipe', stderr: 'inherit' },
    );
    let said = '';
    try {
      const { value } = await swapping.stdout.getReader().read();
      expect(new TextDecoder().decode(value)).toBe('swapping\n');
      for (let round = 0; round < rounds || (round < 20 * rounds && !(await worked(place))); round++)
        said += await use(place, round).then(String, (thrown: Error) => `${thrown.message}\n`);
    } finally {
      swapping.kill('SIGKILL');
      await swapping.exited;
    }
    return { place, said };
  }

  test('for reading', async () => {
    const { place, said } = await raced(4_000, (place) => run(reader, place, { path: 'box/sub/a.txt' }));
    await using _ = place;
    expect(said).not.toContain('OUTSIDE');
    expect(said).toContain('inside');
  });

  test('for listing', async () => {
    const { place, said } = await raced(400, (place) => run(listFiles(OPEN), place, { path: '.', depth: 3 }));
    await using _ = place;
    expect(said).not.toContain('OUTSIDE');
    expect(said).toContain('only-inside');
  });

  for (const ripgrep of [null, Bun.which('rg')])
    test(`for searching ${ripgrep ? 'with' : 'without'} ripgrep`, async () => {
      const tool = searchFiles({ ...OPEN, ripgrep });
      const { place, said } = await raced(40, (place) => run(tool, place, { path: '.', query: 'word' }));
      await using _ = place;
      expect(said).not.toContain('OUTSIDE');
      expect(said).toContain('word inside');
    });

  test('for saving', async () => {
    const { place } = await raced(400, (place, round) =>
      run(saver, place, { path: `box/new-${round}/made.txt`, content: 'x' }),
    );
    await using _ = place;
    expect((await readdir(join(place.outside, 'far'))).sort()).toEqual(['a.txt', 'sub']);
    const made = [...(await readdir(join(place.root, 'box'))), ...(await readdir(join(place.root, 'lure')))];
    expect(made.some((name) => name.startsWith('new-'))).toBe(true);
  });

  test('for patching: add, change, move and delete', async () => {
    /** While it is swapped, a folder may be gone in the middle of a listing. */
    const hasMoved = async ({ root }: ToolFixture) => {
      const paths = await readdir(root, { recursive: true }).catch(() => []);
      return paths.some((path) => path.includes('moved-'));
    };
    const patchAll = async (place: ToolFixture, round: number) => {
      const added = `box/sub/added-${round}.txt`;
      const steps = [
        `*** Add File: ${added}\n+x`,
        '*** Update File: box/a.txt\n-OUTSIDE\n+changed',
        `*** Update File: ${added}\n*** Move to: box/moved-${round}.txt\n-x\n+y`,
        '*** Delete File: box/sub/only-OUTSIDE',
      ];
      for (const step of steps) await run(patcher, place, patch(step)).catch(faultOnly);
    };
    const { place } = await raced(400, patchAll, hasMoved);
    await using _ = place;
    const far = join(place.outside, 'far');
    expect((await readdir(far, { recursive: true })).sort()).toEqual([
      'a.txt',
      'sub',
      'sub/a.txt',
      'sub/only-OUTSIDE',
    ]);
    expect(await read(join(far, 'a.txt'), 'utf8')).toBe('OUTSIDE\n');
    expect(await hasMoved(place)).toBe(true);
  });
});
