import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { chmod, readdir, rename, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { contextIn, type ToolFixture, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { until } from '../../testing/until.ts';
import { parseConfig, writeConfig } from './git-config.ts';
import { watchGitFolders } from './git-quarantine.ts';
import { findSandbox } from './sandbox.ts';
import { shell } from './tool.ts';

const sandbox = await findSandbox();
// In CI the sandbox must be available: a skipped attempt proves nothing.
const skipped = !sandbox && !process.env.CI;

async function run(place: ToolFixture, script: string, approved = false): Promise<string> {
  const tool = shell('shell', { sandbox, hide: [] });
  const context = contextIn(place.root, { permission: approved ? 'approved' : 'mode' });
  return String((await use(tool, { command: ['bash', '-c', script] }, context)).data?.output);
}

/** As a user at a terminal, outside any sandbox. */
function git(cwd: string, ...args: string[]): string {
  const identity = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...identity };
  const { stdout, stderr } = Bun.spawnSync(['git', ...args], { cwd, env });
  return `${stdout}${stderr}`;
}

describe.skipIf(skipped)('after a command', () => {
  /** Leaves a program that writes a file where git runs it. */
  async function withCanary() {
    const place = await toolFixture();
    const canary = join(place.outside, 'canary');
    await place.write('evil.sh', `#!/bin/sh\necho run >> ${canary}\n`);
    await chmod(join(place.root, 'evil.sh'), 0o755);
    return { place, evil: join(place.root, 'evil.sh'), wasRun: () => existsSync(canary) };
  }

  const plants: [what: string, script: (evil: string) => string][] = [
    ['a new repository with a monitor', (evil) => `git init -q && git config core.fsmonitor ${evil}`],
    ['a new repository with a hook', (evil) => `git init -q && ln -s ${evil} .git/hooks/post-index-change`],
    [
      'a folder of hooks that is a link',
      () => 'git init -q --template= && mkdir h && ln -s ../h .git/hooks && cp evil.sh h/post-index-change',
    ],
    [
      'an included configuration',
      (evil) =>
        `git init -q; printf '[core]\\n\\tfsmonitor = ${evil}\\n' > inc; git config include.path ../inc`,
    ],
    [
      'a configuration that is a link',
      (evil) =>
        `git init -q; mv .git/config c; ln -s ../c .git/config; git config -f c core.fsmonitor ${evil}`,
    ],
    [
      'a repository in a subfolder, linked from the index',
      (evil) =>
        `git init -q && git init -q sub && cd sub && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git config core.fsmonitor ${evil} && cd .. && git add sub`,
    ],
    [
      'a common folder without a HEAD',
      (evil) =>
        `git init -q && mkdir common && cp -r .git/objects .git/refs common/ && git config -f common/config core.fsmonitor ${evil} && echo ../common > .git/commondir`,
    ],
    [
      'a .git file that leads elsewhere',
      (evil) => `git init -q --separate-git-dir=store . && git config core.fsmonitor ${evil}`,
    ],
    [
      'a folder that is moved into place',
      (evil) => `git init -q x && git -C x config core.fsmonitor ${evil} && mv x/.git .git`,
    ],
  ];
  const configured = (folder: string, evil: string) =>
    `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tfsmonitor = ${evil}\\n' > ${folder}/config`;
  plants.push(
    [
      'a git folder whose name is no UTF-8',
      (evil) =>
        `mkdir sub; git init -q --bare $'\\xff'; ${configured("$'\\xff'", evil)}; printf 'gitdir: ../\\xff\\n' > sub/.git`,
    ],
    [
      'a folder that cannot be listed',
      (evil) => `git init -q sub; ${configured('sub/.git', evil)}; chmod 0311 sub/.git`,
    ],
    [
      'a folder that cannot be written',
      (evil) => `git init -q sub; ${configured('sub/.git', evil)}; chmod 0555 sub/.git`,
    ],
    [
      'a common folder whose name ends with a space',
      (evil) =>
        `git init -q sub; git init -q --bare good; mkdir 'good '; cp -r good/objects good/refs 'good '/; ${configured("'good '", evil)}; printf '../../good \\n' > sub/.git/commondir`,
    ],
    [
      'a common folder behind a link',
      (evil) =>
        `git init -q sub; git init -q --bare sub/.git/good; mkdir -p e/d e/good; ln -s ../../e/d sub/.git/link; cp -r sub/.git/good/objects sub/.git/good/refs e/good/; ${configured('e/good', evil)}; printf 'link/../good\\n' > sub/.git/commondir`,
    ],
    [
      'a folder without a HEAD that git init completes',
      (evil) =>
        `mkdir -p .git/hooks sub; ${configured('.git', evil)}; cp evil.sh .git/hooks/post-index-change`,
    ],
  );
  for (const [what, script] of plants)
    test(`${what} runs nothing`, async () => {
      const { place, evil, wasRun } = await withCanary();
      await using _ = place;
      expect(await run(place, script(evil))).toContain('made harmless');
      for (const folder of [place.root, join(place.root, 'sub')].filter((path) => existsSync(path))) {
        git(folder, 'status');
        git(folder, 'add', '-A');
      }
      git(place.root, 'init');
      git(place.root, 'add', '-A');
      expect(wasRun()).toBe(false);
    });

  for (const name of ['config', 'hooks'])
    test(`${name} of the working directory's repository that was a link cannot be replaced`, async () => {
      const { place, evil, wasRun } = await withCanary();
      await using _ = place;
      git(place.root, 'init', '-q');
      await rename(join(place.root, '.git', name), join(place.root, 'kept'));
      await symlink('../kept', join(place.root, '.git', name));
      const plant =
        name === 'config'
          ? configured('.git', evil)
          : 'mkdir .git/hooks; cp evil.sh .git/hooks/post-index-change';
      expect(await run(place, `rm .git/${name}; ${plant}`)).toContain('made harmless');
      git(place.root, 'add', '-A');
      expect(wasRun()).toBe(false);
    });

  test('a folder that its owner cannot list is opened and searched', async () => {
    await using place = await toolFixture();
    await run(place, "mkdir -p a/b $'\\xff'/c; chmod 0311 a/b a $'\\xff'");
    expect((await stat(join(place.root, 'a/b'))).mode & 0o777).toBe(0o711);
    expect(await readdir(place.root)).toContainEqual(expect.stringMatching(/set-aside$/));
  });

  test('a repository below a name that is not UTF-8 stays unchanged', async () => {
    await using place = await toolFixture();
    const shell = (script: string) => Bun.spawnSync(['bash', '-c', script], { cwd: place.root });
    shell("git init -q $'caf\\xe9'");
    expect(await run(place, 'echo x > x')).toBe('');
    expect(shell("test -d $'caf\\xe9'/.git").exitCode).toBe(0);
  });

  test('the same holds for an approved command, in a fresh and in a nested repository', async () => {
    const { place, evil, wasRun } = await withCanary();
    await using _ = place;
    for (const folder of ['.', 'nested'])
      expect(
        await run(place, `git init -q ${folder} && cd ${folder} && git config core.fsmonitor ${evil}`, true),
      ).toContain('made harmless');
    git(place.root, 'status');
    git(join(place.root, 'nested'), 'status');
    expect(wasRun()).toBe(false);
  });

  test('what an approved git config writes stays, at the root and in a nested repository', async () => {
    await using place = await toolFixture();
    git(place.root, 'init', '-q');
    git(place.root, 'init', '-q', 'lib');
    const tool = shell('shell', { sandbox, hide: [] });
    for (const workdir of ['.', 'lib']) {
      const input = { command: ['git', 'config', 'core.pager', 'less -F'], workdir };
      await use(tool, input, contextIn(place.root, { permission: 'approved' }));
      expect(git(join(place.root, workdir), 'config', 'core.pager')).toBe('less -F\n');
    }
  });

  test('while commands run, commondir leads to its own folder, and git works inside and outside', async () => {
    const { place, evil, wasRun } = await withCanary();
    await using _ = place;
    git(place.root, 'init', '-q');
    git(place.root, 'commit', '-q', '--allow-empty', '-m', 'one');
    const wait = (name: string) => `touch ${name}.begun; while [ ! -e ${name}.end ]; do sleep 0.05; done`;
    const plant = `mkdir common; cp -r .git/objects .git/refs common/; ${configured('common', evil)}; rm -f .git/commondir; echo ../common > .git/commondir; echo ../common > new; mv -f new .git/commondir`;
    const first = run(place, wait('a'), true);
    await until(() => existsSync(join(place.root, 'a.begun')));
    const second = run(place, `${wait('b')}; ${plant}; git log --oneline; ${wait('c')}`, true);
    await until(() => existsSync(join(place.root, 'b.begun')));
    await place.write('a.end', '');
    await first;
    await place.write('b.end', '');
    await until(() => existsSync(join(place.root, 'c.begun')));
    expect(git(place.root, 'status')).toContain('nothing added to commit');
    const judged = shell('shell', { sandbox, hide: [] });
    const look = judged.input.parse({ command: ['git', 'status'] });
    expect(await judged.approval(look, { root: place.root })).toBeNull();
    await place.write('c.end', '');
    expect(await second).toContain(' one\n');
    expect(wasRun()).toBe(false);
    expect(existsSync(join(place.root, '.git/commondir'))).toBe(false);
  });

  test('a plain new repository is left unchanged and works', async () => {
    await using place = await toolFixture();
    const output = await run(
      place,
      'git init -q -b main && git config user.name a && git config user.email a@b && echo a > a && git add a && git commit -qm one && git remote add origin https://example.org/r.git && git log --oneline',
    );
    expect(output).toMatch(/^[0-9a-f]+ one\n$/);
    expect(git(place.root, 'remote', '-v')).toContain('https://example.org/r.git');
    expect(await readdir(join(place.root, '.git/hooks'))).not.toContainEqual(
      expect.stringMatching(/set-aside$/),
    );
  });

  test('existing settings of a repository in a subfolder stay, and only new ones are removed', async () => {
    await using place = await toolFixture();
    git(place.root, 'init', '-q', 'lib');
    git(join(place.root, 'lib'), 'config', 'core.pager', 'less -F');
    await place.write('lib/.git/hooks/pre-push', '#!/bin/sh\n');
    const output = await run(
      place,
      'cd lib && git config core.sshCommand ./x && git config user.name b && echo x > .git/hooks/pre-commit',
    );
    expect(output).toContain('lib/.git: core.sshcommand removed from config, hooks/pre-commit set aside');
    expect(git(join(place.root, 'lib'), 'config', '--local', '--list')).toMatch(
      /core\.pager=less -F[\s\S]*user\.name=b/,
    );
    expect(await readdir(join(place.root, 'lib/.git/hooks'))).toContain('pre-push');
  });

  test('concurrent changes of the user in the repository of the working directory are kept', async () => {
    await using place = await toolFixture();
    git(place.root, 'init', '-q');
    const watch = await watchGitFolders({ root: place.root, hide: [] });
    git(place.root, 'config', 'core.pager', 'less -F');
    await place.write('.git/hooks/pre-push', '#!/bin/sh\n');
    expect(await watch.settle()).toEqual([]);
  });

  test('a work tree keeps its link to the repository', async () => {
    await using place = await toolFixture();
    git(place.root, 'init', '-q');
    git(place.root, 'commit', '-q', '--allow-empty', '-m', 'one');
    expect(await run(place, 'git worktree add -q ./tree HEAD && git -C tree log --oneline')).toEndWith(
      ' one\n',
    );
    expect(git(join(place.root, 'tree'), 'log', '--oneline')).toContain('one');
  });

  test('a data folder created by the command does not configure a server', async () => {
    await using place = await toolFixture();
    await place.write('old/.parlance/config.json', '{}');
    const output = await run(place, 'mkdir -p sub/.parlance && echo "{}" > sub/.parlance/config.json');
    expect(output).toContain('sub/.parlance was renamed');
    expect(existsSync(join(place.root, 'sub/.parlance'))).toBe(false);
    expect(existsSync(join(place.root, 'old/.parlance/config.json'))).toBe(true);
  });
});

test('concurrent commands cannot pass off what they left as existing before', async () => {
  await using place = await toolFixture();
  const bounds = { root: place.root, hide: [] };
  const first = await watchGitFolders(bounds);
  git(place.root, 'init', '-q');
  git(place.root, 'config', 'core.fsmonitor', './evil');
  const second = await watchGitFolders(bounds);
  expect(await first.settle()).toHaveLength(1);
  git(place.root, 'config', 'core.fsmonitor', './evil');
  expect(await second.settle()).toHaveLength(1);
  expect(git(place.root, 'config', '--local', '--list')).not.toContain('fsmonitor');
});

test('a configuration is written so that git reads the same pairs', async () => {
  const pairs = [
    ['core.bare', null],
    ['remote.a "b\\ c.url', 'x\n\ty "z" \\ # ; '],
    ['user.name', ' Ä '],
  ] as const;
  expect(await parseConfig(new TextEncoder().encode(writeConfig(pairs)))).toEqual(
    pairs.map((pair) => [...pair]),
  );
});
