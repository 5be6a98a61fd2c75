import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdir, rename, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { autoApprovedOutput, bash, git, repositoryIn } from '../../testing/tools/shell.ts';
import { type ToolFixture, toolFixture } from '../../testing/tools/tool-context.ts';
import { namesInIndex } from './git-index.ts';
import { findSandbox } from './sandbox.ts';

const found = await findSandbox();

/** Adds an entry with a name that git itself would refuse. */
async function track(place: ToolFixture, name: string): Promise<void> {
  const placeholder = 'y'.repeat(name.length);
  const blob = git(place.root, 'rev-parse', 'HEAD:a.txt').trim();
  git(place.root, 'update-index', '--add', '--cacheinfo', `100644,${blob},${placeholder}`);
  const index = await indexIn(place);
  index.write(name, index.indexOf(placeholder), 'latin1');
  const content = index.subarray(0, -20);
  const sum = createHash('sha1').update(content).digest();
  await Bun.write(join(place.root, '.git/index'), Buffer.concat([content, sum]));
}

const indexIn = async ({ root }: ToolFixture) =>
  Buffer.from(await Bun.file(join(root, '.git/index')).bytes());

for (const sandbox of found ? [null, found] : [null]) {
  describe(`an index that leads out, ${sandbox ? 'in the sandbox' : 'without a sandbox'}`, () => {
    const output = (place: ToolFixture, script: string) =>
      autoApprovedOutput(place, { command: bash(script) }, { sandbox, hide: [] });

    test.each([
      '/etc/passwd',
      '../secret',
      'a/../../secret',
      '.git/config',
      'a/.GIT/config',
      './a.txt',
      'a//b',
      'bad\xff',
    ])('asks for the name %j', async (name) => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      await Bun.write(join(place.outside, 'secret'), 'secret\n');
      expect(await output(place, 'git diff')).toContain('+two');
      await track(place, name);
      for (const script of ['git diff', 'git status', 'cat a.txt; git log'])
        expect([script, await output(place, script)]).toEqual([script, null]);
      expect(await output(place, 'cat a.txt')).toBe('two\n');
    });

    test('runs for names that only look unusual', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      for (const name of ['..a/b', 'a/.github/x', 'c...d', 'ü/ß', 'x'.repeat(200), '-x', 'a b'])
        await place.write(name, 'three\n');
      git(place.root, 'add', '.');
      git(place.root, 'rm', '-q', '--cached', 'a b');
      git(place.root, 'add', '-N', 'a b');
      expect((await indexIn(place)).readUInt32BE(4)).toBe(3);
      expect(await output(place, 'git diff')).toContain('+three');
      expect(await output(place, 'git status --short')).toContain('A  ..a/b');
      expect(namesInIndex(await indexIn(place))).toEqual(
        git(place.root, 'ls-files', '-z').split('\0').slice(0, -1),
      );
    });

    test('needs approval if a tracked folder became a link', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      await place.write('folder/secret', 'mine\n');
      git(place.root, 'add', 'folder');
      expect(await output(place, 'git status --short')).toContain('A  folder/secret');
      await rename(join(place.root, 'folder'), join(place.root, 'moved'));
      expect(await output(place, 'git status --short')).toContain('AD folder/secret');
      await place.write('folder', 'a file\n');
      expect(await output(place, 'git status --short')).toContain('AD folder/secret');
      await rename(join(place.root, 'folder'), join(place.root, 'file'));
      await symlink(place.outside, join(place.root, 'folder'));
      expect(await output(place, 'git status --short')).toBeNull();
    });

    test.each([
      ['version 4', ['update-index', '--index-version', '4']],
      ['a split index', ['update-index', '--split-index']],
    ])('asks for %s', async (_, words) => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      git(place.root, ...words);
      expect(await output(place, 'git diff')).toBeNull();
    });

    test('needs approval if the index is truncated, is a folder, or has a wrong length', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      const index = await indexIn(place);
      const path = join(place.root, '.git/index');
      await Bun.write(path, index.subarray(0, 70));
      expect(await output(place, 'git status')).toBeNull();
      const longer = Buffer.from(index);
      longer.writeUInt16BE(longer.readUInt16BE(72) + 8, 72);
      await Bun.write(path, longer);
      expect(await output(place, 'git status')).toBeNull();
      await rename(path, join(place.root, 'index'));
      expect(await output(place, 'git status')).not.toBeNull();
      await mkdir(path);
      expect(await output(place, 'git status')).toBeNull();
    });

    test.each(['parlance.json', '.data'])('asks if the hidden %s is tracked', async (name) => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      const hide = [join(place.root, name)];
      const run = (...command: string[]) => autoApprovedOutput(place, { command }, { sandbox, hide });
      const file = name === '.data' ? '.data/key' : name;
      await place.write(file, 'key\n');
      await place.write(`my${file}`, 'other\n');
      git(place.root, 'add', `my${file}`);
      expect(await run('git', 'diff', '--cached')).toContain('other');
      git(place.root, 'add', '.');
      git(place.root, 'commit', '-q', '-m', 'second');
      for (const words of [['show', `HEAD:${file}`], ['log', '-p', '-1'], ['diff']])
        expect(await run('git', ...words)).toBeNull();
    });

    test('a file changed in the same second as the index is shown: the copy has the time of the index', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      const then = new Date('2020-01-01');
      const file = join(place.root, 'a.txt');
      await utimes(file, then, then);
      git(place.root, 'add', 'a.txt');
      await place.write('a.txt', 'owt\n');
      await utimes(file, then, then);
      await utimes(join(place.root, '.git/index'), then, then);
      expect(await output(place, 'git diff')).toContain('+owt');
    });
  });
}
