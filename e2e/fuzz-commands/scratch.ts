/**
 * A working directory full of traps, and files outside that no command may read, change or run without
 * approval.
 */
import { chmod, mkdir, mkdtemp, readdir, readlink, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { git, hostileSettings, repositoryIn } from '../../packages/server/src/testing/tools/shell.ts';

/** In every file that must not be read, and in file names of folders that must not be listed. */
export const SECRET = 'canary7f3a';
/** Matches every pattern that a line searches for. */
const CONTENT = `found one a|b . /etc /secret ${SECRET}\n`;

export type Scratch = AsyncDisposable & {
  readonly roots: readonly string[];
  /** path relative to each root that is hidden from tools */
  readonly hidden: string;
  /** The state inside and outside of the roots, to detect changes. */
  snapshot(): Promise<string>;
  /** Programs from a repository or folder that ran since the last call, one per line. */
  executed(): Promise<string>;
};

export async function scratch(): Promise<Scratch> {
  const outside = await realpath(await mkdtemp(join(tmpdir(), 'parlance-commands-')));
  const program = join(outside, 'canary.sh');
  const mark = join(outside, 'mark');
  await Bun.write(program, `#!/bin/sh\necho "$0 $*" | /usr/bin/head -c 300 >> '${mark}'\n/bin/cat\n`);
  await chmod(program, 0o755);
  await Bun.write(mark, '');
  await Bun.write(join(outside, 'home/.ssh', SECRET), CONTENT);
  await Bun.write(join(outside, 'home/.ssh/id_rsa'), CONTENT);
  await Bun.write(join(outside, 'home/.bash_profile'), `${program}\n`);
  await Bun.write(join(outside, 'home/.profile'), `${program}\n`);
  await Bun.write(join(outside, 'home/.gitconfig'), hostileSettings(program)['diff.external'] ?? '');
  await Bun.write(join(outside, 'secret'), CONTENT);
  await repositoryIn(join(outside, 'repository'));
  await Bun.write(join(outside, 'repository', 'b.txt'), CONTENT);
  git(join(outside, 'repository'), 'add', 'b.txt');
  git(join(outside, 'repository'), 'commit', '-q', '-m', SECRET);

  const roots: string[] = [];
  for (const kind of ['plain', 'borrowing', 'linked'] as const) {
    const root = join(outside, kind);
    await files(root, outside, program);
    if (kind === 'borrowing')
      await Bun.write(join(root, '.git/objects/info/alternates'), `${outside}/repository/.git/objects\n`);
    if (kind === 'linked') {
      await rm(join(root, '.git'), { recursive: true });
      await symlink('../repository/.git', join(root, '.git'));
    }
    roots.push(root);
  }

  const before = { HOME: process.env.HOME, PATH: process.env.PATH, CDPATH: process.env.CDPATH };
  process.env.HOME = join(outside, 'home');
  process.env.PATH = `node_modules/.bin:.:${before.PATH}`;
  process.env.CDPATH = outside;
  return {
    roots,
    hidden: '.data',
    snapshot: () => snapshotOf(outside),
    async executed() {
      const programs = await Bun.file(mark).text();
      if (programs !== '') await Bun.write(mark, '');
      return programs;
    },
    async [Symbol.asyncDispose]() {
      for (const [name, value] of Object.entries(before))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      await rm(outside, { recursive: true, force: true });
    },
  };
}

/** Everything that a repository can contain. */
async function files(root: string, outside: string, program: string): Promise<void> {
  await repositoryIn(root);
  const text = (path: string, content: string) => Bun.write(join(root, path), content);
  for (const path of [
    'plain/a.txt',
    'plain/deep/b.txt',
    'linked/c.txt',
    'src/d e.txt',
    '.hidden/f.txt',
    'v[1].txt',
  ])
    await text(path, `found in ${path}\none two\n`);
  await text('.data/key', CONTENT);
  await text('.ignore', '!.data\n!.data/*\n');
  await text('list', `${outside}/secret\0`);
  for (const name of [
    '-delete',
    '-follow',
    '-L',
    '-R',
    '--follow',
    '-exec',
    '--files0-from=list',
    '--pre=canary.sh',
  ])
    await text(`dashes/${name}`, '');
  const links: [string, string][] = [
    ['linked/key', `${outside}/secret`],
    ['linked/keys', `${outside}/home/.ssh`],
    ['linked/relative', '../../secret'],
    ['linked/up', '../..'],
    ['plain/inside', 'deep'],
    ['plain/broken', 'nowhere'],
    ['plain/loop', 'loop'],
    ['chain', 'linked/keys'],
    ['dashes/out', '../..'],
    ['around', 'plain/inside/../../linked'],
  ];
  for (const [path, target] of links) await symlink(target, join(root, path));
  await mkdir(join(root, 'node_modules/.bin'), { recursive: true });
  for (const name of ['git', 'ls', 'cat', 'bash', 'sh', 'rg', 'grep', 'find', 'which'])
    await symlink(program, join(root, 'node_modules/.bin', name));

  await repositoryIn(join(root, 'vendor/lib'));
  git(root, 'add', 'vendor/lib');
  const hostile = Object.values(hostileSettings(program)).join('');
  const own = await Bun.file(join(root, '.git/config')).text();
  const promisor = `[remote "origin"]\nurl = ext::${program}\npromisor = true\n[include]\npath = ../more\n`;
  await text('.git/config', own + hostile + promisor);
  await text('more', hostile);
  await text('.git/hooks/post-index-change', `#!/bin/sh\n${program}\n`);
  await chmod(join(root, '.git/hooks/post-index-change'), 0o755);
  await text(
    'vendor/lib/.git/config',
    `${await Bun.file(join(root, 'vendor/lib/.git/config')).text()}${hostile}`,
  );
  await text('.gitmodules', '[submodule "lib"]\npath = vendor/lib\nurl = ./lib\nignore = none\n');
  for (const name of ['objects', 'refs']) await mkdir(join(root, 'vendor/bare', name), { recursive: true });
  await text('vendor/bare/HEAD', 'ref: refs/heads/main\n');
  await text('vendor/bare/config', `[core]\nbare = false\nworktree = .\n${hostile}`);
}

async function snapshotOf(folder: string): Promise<string> {
  const lines: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) lines.push(`${path} -> ${await readlink(path)}`);
    else if (entry.isDirectory()) lines.push(`${path}/`, await snapshotOf(path));
    else lines.push(`${path} ${Bun.hash(await Bun.file(path).bytes())}`);
  }
  return lines.sort().join('\n');
}
