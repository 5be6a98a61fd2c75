import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { git, repositoryIn } from '../testing/tools/shell.ts';
import { contextIn, type ToolFixture, toolFixture, use } from '../testing/tools/tool-context.ts';
import { type Guard, withGuard } from './guard.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { searchFiles } from './search/tool.ts';
import { shell } from './shell/tool.ts';

let place: ToolFixture;
let guard: Guard;

/** A repository of the person with a clone, a worktree and a plain folder inside. */
beforeAll(async () => {
  place = await toolFixture();
  await repositoryIn(place.root);
  await place.write('README.md', 'word\n');
  await place.write('src/a.ts', 'word in vendor/clone\n');
  await place.write('vendor/clone/README.md', 'word: run it\n');
  await repositoryIn(join(place.root, 'vendor/clone'));
  await place.write('vendor/clone/deep/b.ts', 'deep\n');
  await place.write('my clone/README.md', 'spaced\n');
  await mkdir(join(place.root, 'my clone/.git'));
  await symlink('vendor/clone/deep', join(place.root, 'link'));
  git(place.root, 'worktree', 'add', '-q', join(place.root, 'tree'));
  await Bun.write(join(place.outside, 'download.txt'), 'from elsewhere\n');
  guard = { hide: [], trust: { root: place.root, folders: [] } };
});
afterAll(() => place[Symbol.asyncDispose]());

async function isUntrusted(
  name: string,
  input: object,
  { rules = guard, root = place.root }: { rules?: Guard; root?: string } = {},
): Promise<boolean> {
  const tool = {
    read_file: readFile(rules),
    list_files: listFiles(rules),
    search_files: searchFiles(withGuard(rules, { ripgrep: null })),
    shell: shell('shell', withGuard(rules, { sandbox: null })),
  }[name];
  if (!tool) throw new Error(`no tool ${name}`);
  const safe = name === 'shell' && (await tool.approval(tool.input.parse(input), { root })) === null;
  const result = await use(tool, input, contextIn(root, { permission: safe ? 'safe' : 'approved' }));
  return result.untrusted === true;
}

const script = (text: string) => ({ command: ['bash', '-lc', text] });

describe('content of a repository inside the working directory is untrusted', () => {
  test.each<[string, object]>([
    ['read_file', { path: 'vendor/clone/README.md' }],
    ['read_file', { path: 'link/b.ts' }],
    ['list_files', { path: 'vendor/clone' }],
    ['list_files', { path: '.', depth: 3 }],
    ['search_files', { query: 'word' }],
    ['shell', { command: ['cat', 'vendor/clone/README.md'] }],
    ['shell', { command: ['cat', 'README.md'], workdir: 'vendor/clone' }],
    ['shell', script('cat vendor/clone/README.md')],
    ['shell', script('cat vendor/*/README.md')],
    ['shell', script('cd vendor/clone && cat README.md')],
    ['shell', script('cd vendor && cat clone/README.md')],
    ['shell', script('cat "my clone/README.md"')],
    ['shell', script('cat link/b.ts')],
    ['shell', script('grep -rn word .')],
    ['shell', script('find . -name b.ts')],
    ['shell', { command: ['node', '--require=./vendor/clone/deep/b.ts', '--version'] }],
    ['shell', script('cat ../download.txt')],
  ])('%s %j', async (tool, input) => {
    expect(await isUntrusted(tool, input)).toBe(true);
  });

  test('also in a session that works there', async () => {
    const clone = join(place.root, 'vendor/clone');
    expect(await isUntrusted('read_file', { path: 'README.md' }, { root: clone })).toBe(true);
    expect(await isUntrusted('shell', { command: ['ls'] }, { root: clone })).toBe(true);
  });
});

describe('the rest of the working directory is trusted', () => {
  test.each<[string, object]>([
    ['read_file', { path: 'README.md' }],
    ['read_file', { path: 'src/a.ts' }],
    ['read_file', { path: 'tree/a.txt' }],
    ['list_files', {}],
    ['list_files', { path: 'src', depth: 3 }],
    ['search_files', { query: 'word', path: 'src' }],
    ['shell', { command: ['cat', 'README.md'] }],
    ['shell', script('ls -la && cat README.md 2>/dev/null')],
    ['shell', script('cd src && cat a.ts')],
    ['shell', script('git log -p -1')],
    ['shell', script('git status')],
    ['shell', script('cat tree/a.txt')],
    ['shell', script('/usr/bin/env true')],
  ])('%s %j', async (tool, input) => {
    expect(await isUntrusted(tool, input)).toBe(false);
  });
});

test('a folder that a person trusts is trusted, with all that is in it', async () => {
  const rules = { ...guard, trust: { root: place.root, folders: [join(place.root, 'vendor')] } };
  expect(await isUntrusted('read_file', { path: 'vendor/clone/README.md' }, { rules })).toBe(false);
  expect(await isUntrusted('shell', script('cd vendor/clone && cat README.md'), { rules })).toBe(false);
  expect(await isUntrusted('read_file', { path: 'my clone/README.md' }, { rules })).toBe(true);
});

test('a session that works elsewhere trusts its folder, and no repository in it', async () => {
  await using other = await toolFixture();
  await other.write('README.md', 'word\n');
  await other.write('clone/README.md', 'word\n');
  await mkdir(join(other.root, 'clone/.git'));
  expect(await isUntrusted('read_file', { path: 'README.md' }, { root: other.root })).toBe(false);
  expect(await isUntrusted('read_file', { path: 'clone/README.md' }, { root: other.root })).toBe(true);
});

test('a clone cannot claim to be a worktree', async () => {
  await using own = await toolFixture();
  await repositoryIn(own.root);
  git(own.root, 'worktree', 'add', '-q', join(own.root, 'tree'));
  await own.write('clone/README.md', 'word\n');
  await Bun.write(join(own.root, 'clone/.git'), Bun.file(join(own.root, 'tree/.git')));
  const rules = { hide: [], trust: { root: own.root, folders: [] } };
  expect(await isUntrusted('read_file', { path: 'tree/a.txt' }, { rules, root: own.root })).toBe(false);
  expect(await isUntrusted('read_file', { path: 'clone/README.md' }, { rules, root: own.root })).toBe(true);
  await rename(join(own.root, 'tree'), join(own.root, 'moved'));
  expect(await isUntrusted('read_file', { path: 'moved/a.txt' }, { rules, root: own.root })).toBe(true);
});

test('what a command without a sandbox gets from an address is untrusted', async () => {
  using site = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('run it') });
  const get = `fetch(${JSON.stringify(String(site.url))}).then(async (page) => console.log(await page.text()))`;
  expect(await isUntrusted('shell', { command: [process.execPath, '-e', get] })).toBe(true);
});
