import { describe, expect, test } from 'bun:test';
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  autoApprovedOutput,
  bash,
  canaryIn,
  git,
  hostileSettings,
  repositoryIn,
} from '../../testing/tools/shell.ts';
import { contextIn, faultOf, type ToolFixture, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { findSandbox } from './sandbox.ts';
import { shell } from './tool.ts';

const found = await findSandbox();

// In CI the sandbox must be available: a skipped attack proves nothing.
if (process.env.CI) test('bubblewrap works on this machine', () => expect(found).not.toBeNull());

for (const sandbox of found ? [null, found] : [null]) {
  const options = { sandbox, hide: [] };
  describe(`unapproved git, ${sandbox ? 'in the sandbox' : 'without a sandbox'}`, () => {
    const output = (place: ToolFixture, script: string, workdir?: string) =>
      autoApprovedOutput(place, { command: bash(script), ...(workdir ? { workdir } : {}) }, options);

    test.each(Object.keys(hostileSettings('')))(
      'runs no program for %s, and shows what it should',
      async (name) => {
        await using place = await toolFixture();
        await repositoryIn(place.root);
        const canary = await canaryIn(place);
        const config = `${await place.read('.git/config')}${hostileSettings(canary.program)[name]}`;
        await place.write('.git/config', config);
        await place.write('.git/info/attributes', '* diff=canary filter=canary\n');
        expect(await output(place, 'git status --short')).toContain(' M a.txt');
        expect(await output(place, 'git status')).toContain('modified:   a.txt');
        expect(await output(place, 'git diff')).toContain('-one\n+two');
        expect(await output(place, 'git log -p')).toContain('+one');
        expect(await output(place, 'git log -1 --stat -S one')).toContain('first');
        expect(await output(place, 'git --no-pager show HEAD')).toContain('+one');
        expect(await output(place, 'git show HEAD:a.txt')).toContain('one');
        expect(await output(place, 'git log -L1,1:a.txt')).toContain('first');
        expect(await output(place, 'git branch -vv')).toContain('* main');
        expect(await output(place, 'git rev-parse --abbrev-ref HEAD 2>/dev/null')).toBe('main\n');
        expect(await output(place, 'git ls-files -m')).toBe('a.txt\n');
        expect(await output(place, 'git ls-files -o --exclude-standard')).toContain('.gitattributes');
        expect(await output(place, 'git blame a.txt')).toContain('Not Committed Yet');
        expect(await output(place, 'git blame HEAD -- a.txt')).toContain(') one');
        expect(await output(place, 'git grep -n two')).toBe('a.txt:1:two\n');
        expect(await output(place, 'git grep one HEAD')).toContain('HEAD:a.txt:one');
        expect(await output(place, 'git describe --always --dirty')).toContain('-dirty');
        expect(await output(place, 'git cat-file -p HEAD:a.txt; git rev-list --count HEAD')).toBe('one\n1\n');
        expect(await output(place, 'git ls-tree HEAD; git shortlog -sn HEAD; git tag')).toContain('a.txt');
        expect(await autoApprovedOutput(place, { command: ['git', 'diff', 'HEAD'] }, options)).toContain(
          '+two',
        );
        expect(await canary.wasRun()).toBe(false);
      },
    );

    test('runs no program of included configuration files', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      const canary = await canaryIn(place);
      await place.write('more', hostileSettings(canary.program)['filter.<driver>.clean'] ?? '');
      const conditional = `[includeIf "gitdir:**"]\npath = ${place.root}/more\n`;
      await place.write(
        '.git/config',
        `${await place.read('.git/config')}[include]\npath = ../more\n${conditional}`,
      );
      expect(await output(place, 'git status')).toContain('modified:   a.txt');
      expect(await canary.wasRun()).toBe(false);
    });

    test('does not enter a submodule, which has its own configuration', async () => {
      await using place = await toolFixture();
      const canary = await canaryIn(place);
      await repositoryIn(place.root);
      const inner = join(place.root, 'vendor/lib');
      await repositoryIn(inner);
      git(place.root, 'add', 'vendor/lib');
      await place.write('.gitmodules', '[submodule "lib"]\npath = vendor/lib\nurl = ./x\nignore = none\n');
      const hostile = Object.values(hostileSettings(canary.program)).join('');
      await place.write('vendor/lib/.git/config', (await place.read('vendor/lib/.git/config')) + hostile);
      expect(await output(place, 'git status')).toContain('modified:   a.txt');
      expect(await output(place, 'git diff; git diff --cached; git log -p')).toContain('+two');
      for (const script of [
        'git diff --submodule=diff',
        'git status --ignore-submodules=none',
        'git diff --submodule',
      ])
        expect([script, await output(place, script)]).toEqual([script, null]);
      expect(await canary.wasRun()).toBe(false);
    });

    test('fetches nothing for a missing object', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      const canary = await canaryIn(place);
      const promisor = `[remote "origin"]\nurl = ext::${canary.program}\npromisor = true\n[protocol]\nallow = always\n`;
      await place.write('.git/config', `${await place.read('.git/config')}${promisor}`);
      const blob = git(place.root, 'rev-parse', 'HEAD:a.txt').trim();
      await rm(join(place.root, '.git/objects', blob.slice(0, 2), blob.slice(2)));
      expect(await output(place, 'git show HEAD:a.txt')).toContain('fatal');
      expect(await canary.wasRun()).toBe(false);
    });

    test('changes nothing, and knows the tracked branch', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      git(place.root, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
      git(place.root, 'config', 'branch.main.remote', 'origin');
      git(place.root, 'config', 'branch.main.merge', 'refs/heads/main');
      git(place.root, 'config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
      git(place.root, 'commit', '-q', '-a', '-m', 'second');
      const before = await Bun.file(join(place.root, '.git/index')).bytes();
      expect(await output(place, 'git status -sb')).toContain('## main...origin/main [ahead 1]');
      expect(await Bun.file(join(place.root, '.git/index')).bytes()).toEqual(before);
    });

    test('works in a subfolder of the repository', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      await place.write('src/b.txt', 'b');
      expect(await output(place, 'cd src && git status --short')).toContain(' M ../a.txt');
      expect(await output(place, 'git status --short .', 'src')).toContain('?? ./');
    });

    test.each([
      ['a repository in the repository', 'vendor/lib'],
      ['a folder that is laid out like a repository', 'vendor/bare'],
      ['a folder in one of them', 'vendor/lib/deep'],
    ])('asks in %s', async (_, folder) => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      const canary = await canaryIn(place);
      await repositoryIn(join(place.root, 'vendor/lib'));
      await mkdir(join(place.root, 'vendor/lib/deep'));
      const hostile = Object.values(hostileSettings(canary.program)).join('');
      await place.write('vendor/lib/.git/config', (await place.read('vendor/lib/.git/config')) + hostile);
      for (const name of ['objects', 'refs'])
        await mkdir(join(place.root, 'vendor/bare', name), { recursive: true });
      await place.write('vendor/bare/HEAD', 'ref: refs/heads/main\n');
      await place.write('vendor/bare/config', `[core]\nbare = false\nworktree = .\n${hostile}`);
      for (const command of ['git status', 'git diff', 'git log', 'git branch']) {
        expect(await output(place, `cd ${folder} && ${command}`)).toBeNull();
        expect(await output(place, command, folder)).toBeNull();
      }
      expect(await output(place, `cd ${folder} && ls`)).not.toBeNull();
      expect(await canary.wasRun()).toBe(false);
    });

    const layouts: Record<string, (place: ToolFixture) => Promise<unknown>> = {
      'is missing': (place) => rm(join(place.root, '.git'), { recursive: true }),
      'is a file': async (place) => {
        await rename(join(place.root, '.git'), join(place.root, 'elsewhere'));
        await place.write('.git', 'gitdir: elsewhere\n');
      },
      'is a link': async (place) => {
        await rename(join(place.root, '.git'), join(place.root, 'elsewhere'));
        await symlink('elsewhere', join(place.root, '.git'));
      },
      'shares another one': (place) => place.write('.git/commondir', '../elsewhere\n'),
      'borrows objects': (place) => place.write('.git/objects/info/alternates', '/elsewhere/objects\n'),
      'has a link that leads out': (place) => symlink(place.outside, join(place.root, '.git/refs/out')),
      'has a link for a file': async (place) => {
        await Bun.write(join(place.outside, 'secret'), 'secret\n');
        await symlink(join(place.outside, 'secret'), join(place.root, '.git/packed-refs'));
      },
      'has no HEAD': (place) => rm(join(place.root, '.git/HEAD')),
    };
    test.each(Object.keys(layouts))('asks if .git %s', async (name) => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      expect(await output(place, 'git status')).not.toBeNull();
      await layouts[name]?.(place);
      for (const command of ['git status', 'git diff', 'git diff a.txt .gitattributes'])
        expect(await output(place, command)).toBeNull();
    });

    test.each([
      ['git diff --no-index a.txt .gitattributes'],
      ['git diff --no-ind a.txt .gitattributes'],
      ['git status -v'],
      ['git log --show-sig'],
      ['git log --remerge-diff'],
      ['git log --format=%G?'],
      ['git log --format=%-G?'],
      ['git show --pretty=%+GG'],
      ["git log '--format=% G?'"],
      ['git branch --format="%(signature)"'],
      ['git diff -Oorder'],
      ['git log --output=x'],
      ['git diff --ext-diff'],
      ['git show --textconv HEAD:a.txt'],
      ['git diff ../root/../secret a.txt'],
      ['git -C . status'],
      ['git blame --contents .gitattributes a.txt'],
      ['git blame --ignore-revs-file=a.txt a.txt'],
      ['git ls-files --recurse-submodules'],
      ['git grep -O two'],
      ['git grep --no-index two'],
      ['git tag made'],
    ])('asks for %s', async (script) => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      expect(await output(place, script)).toBeNull();
    });

    test.each([
      ['writes a file', ['log', '-1', '-s', '--format=format:key', '--decorate-refs', '--', '--output=made']],
      ['writes a file', ['show', '-L', '--', '--output=made']],
      ['writes a file', ['log', '--author', '-L', '--', '--output=made']],
      ['writes a file', ['diff', '--diff-algorithm', '--', '--output=made']],
      ['writes a file', ['log', '-n', '--', '--output=made']],
      ['enters submodules', ['log', '-p', '--decorate-refs', '--', '--ignore-submodules=none']],
      ['deletes a branch', ['branch', '--list', '--format', '--', '--no-list', '-D', 'main']],
      ['creates a branch', ['branch', '--format', '--list', 'made']],
      ['creates a branch', ['branch', '--sort', '--contains', 'made']],
      ['compares files outside', ['diff', '--', '-x/../../secret', 'a.txt']],
      ['compares the input', ['diff', '--', '-', 'a.txt']],
    ])('asks for an option that takes `--` or another option as its value and %s: %j', async (_, words) => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      await mkdir(join(place.root, '-x'));
      expect(await autoApprovedOutput(place, { command: ['git', ...words] }, options)).toBeNull();
    });

    test.each([
      ['git log -n 5 --oneline -- a.txt', 'first'],
      ['git log --max-count 5 --since 2000-01-01 --author A', 'first'],
      ['git log --grep first --date short', 'first'],
      ['git log -1 -S one --format=%s', 'first'],
      ['git log -L 1,1:a.txt', 'first'],
      ['git diff --unified=1 --diff-filter=M -- a.txt .gitattributes', '+two'],
      ['git diff -- a.txt', '+two'],
      ['git branch --list --format "%(refname)" main', 'refs/heads/main'],
      ['git branch --sort=-committerdate', '* main'],
      ['git branch -a --contains', '* main'],
    ])('runs %s, where the values are values', async (script, shown) => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      expect(await output(place, script)).toContain(shown);
    });

    test('a program with this name in the working directory is not run', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      const canary = await canaryIn(place);
      const bin = join(place.root, 'node_modules/.bin');
      await mkdir(bin, { recursive: true });
      for (const program of ['git', 'ls', 'bash']) await symlink(canary.program, join(bin, program));
      const path = process.env.PATH;
      process.env.PATH = `${bin}:${path}`;
      try {
        expect(await output(place, 'git status; ls')).toContain('modified:   a.txt');
      } finally {
        process.env.PATH = path;
      }
      expect(await canary.wasRun()).toBe(false);
    });

    test('a command that became unsafe after it was judged does not run', async () => {
      await using place = await toolFixture();
      await repositoryIn(place.root);
      await place.write('vendor/lib/b.txt', 'b');
      const canary = await canaryIn(place);
      const tool = shell('shell', options);
      const input = { command: bash('git status'), workdir: 'vendor/lib' };
      expect(await tool.approval(tool.input.parse(input), { root: place.root })).toBeNull();
      await repositoryIn(join(place.root, 'vendor/lib'));
      git(join(place.root, 'vendor/lib'), 'config', 'filter.canary.clean', canary.program);
      const call = use(tool, input, contextIn(place.root, { permission: 'safe' }));
      expect((await faultOf(call)).code).toBe('tool_failed');
      expect(await canary.wasRun()).toBe(false);
    });
  });
}
