import { afterEach, describe, expect, test } from 'bun:test';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { contextIn, use } from '../../testing/tools/tool-context.ts';
import { hiddenHomes } from './home.ts';
import { findSandbox } from './sandbox.ts';
import { shell } from './tool.ts';

const sandbox = await findSandbox();
// In CI the sandbox must be available: a skipped attempt proves nothing.
const skipped = !sandbox && !process.env.CI;
const before = { HOME: process.env.HOME, PATH: process.env.PATH };

afterEach(() => {
  Object.assign(process.env, before);
});

/** Not below /tmp, which the sandbox always empties. The working directory is in the home. */
async function home() {
  const path = await realpath(await mkdtemp('/var/tmp/parlance-home-'));
  const root = join(path, 'projects/mine');
  await mkdir(root, { recursive: true });
  await Bun.write(join(path, '.ssh/id_ed25519'), 'private key');
  await Bun.write(join(path, '.netrc'), 'password');
  await Bun.write(join(root, 'a.txt'), 'a');
  process.env.HOME = path;
  return { path, root, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

async function run(root: string, script: string, approved = false): Promise<string> {
  const tool = shell('shell', { sandbox, hide: [] });
  const result = await use(
    tool,
    { command: ['bash', '-c', script] },
    contextIn(root, { permission: approved ? 'approved' : 'mode' }),
  );
  return String(result.data?.output);
}

describe.skipIf(skipped)('HOME in the sandbox', () => {
  const LOOK = 'cat ~/.ssh/id_ed25519 "$HOME/.netrc"; ls -A ~';

  test('is empty for an unapproved command, except for the working directory', async () => {
    await using place = await home();
    const output = await run(place.root, `${LOOK}; cat a.txt; echo b > b.txt`);
    expect(output).not.toMatch(/private key|password|netrc$/m);
    expect(output).toEndWith('projects\na');
    expect(await Bun.file(join(place.root, 'b.txt')).text()).toBe('b\n');
  });

  test('is writable, and nothing written there remains', async () => {
    await using place = await home();
    expect(await run(place.root, 'mkdir -p ~/.cache && echo x > ~/.cache/x && cat ~/.cache/x')).toBe('x\n');
    expect(await Bun.file(join(place.path, '.cache/x')).exists()).toBe(false);
  });

  test('is visible to an approved command', async () => {
    await using place = await home();
    expect(await run(place.root, LOOK, true)).toMatch(/private key.*password/s);
  });

  test('still contains the programs of PATH and what they load, and nothing else', async () => {
    await using place = await home();
    const program = join(place.path, '.tool/bin/greet');
    await Bun.write(program, '#!/bin/sh\ncat "$(dirname "$0")/../lib/words"\n');
    await chmod(program, 0o755);
    await Bun.write(join(place.path, '.tool/lib/words'), 'hello\n');
    await Bun.write(join(place.path, '.tool/credentials'), 'token');
    await Bun.write(join(place.path, '.other/bin/far'), '#!/bin/sh\necho far\n');
    await chmod(join(place.path, '.other/bin/far'), 0o755);
    await mkdir(join(place.root, '../links'));
    await symlink(join(place.path, '.other/bin/far'), join(place.root, '../links/far'));
    process.env.PATH = `${join(place.path, '.tool/bin')}:${join(place.path, 'projects/links')}:${before.PATH}`;
    expect(await run(place.root, 'greet; far; cat ~/.tool/credentials ~/.netrc')).toMatch(
      /^hello\nfar\n(cat: .*No such file or directory\n){2}$/,
    );
  });

  test('shows only the program that a link in PATH leads to, and no other file', async () => {
    await using place = await home();
    await Bun.write(join(place.path, '.ssh/helper'), '#!/bin/sh\necho helped\n');
    await chmod(join(place.path, '.ssh/helper'), 0o755);
    const bin = join(place.path, 'bin');
    await mkdir(bin);
    await symlink('../.ssh/helper', join(bin, 'helper'));
    await symlink('../.ssh/id_ed25519', join(bin, 'key'));
    process.env.PATH = `${bin}:${before.PATH}`;
    const output = await run(place.root, 'helper; ls ~/.ssh; cat ~/bin/key ~/.ssh/id_ed25519');
    expect(output).toMatch(/^helped\nhelper\n(cat: .*No such file or directory\n){2}$/);
  });

  test('is not hidden if it contains the system or lies in the working directory', async () => {
    await using place = await home();
    process.env.HOME = '/';
    expect(await run(place.root, 'cat a.txt; ls /usr/bin | head -1')).toMatch(/^a\S+\n$/);
    process.env.HOME = place.root;
    expect(await run(place.root, 'cat ~/a.txt')).toBe('a');
    process.env.HOME = '/nonexistent';
    expect(await run(place.root, 'cat a.txt')).toBe('a');
  });
});

test('a home that contains the system or lies in the working directory is not hidden', () => {
  expect(hiddenHomes({ HOME: '/usr' }, '/work')).not.toContain('/usr');
  expect(hiddenHomes({ HOME: '/' }, '/work')).not.toContain('/');
  expect(hiddenHomes({ HOME: '/work/home' }, '/work')).not.toContain('/work/home');
  expect(hiddenHomes({ HOME: '/home/ann' }, '/home/ann/project')).toContain('/home/ann');
});
