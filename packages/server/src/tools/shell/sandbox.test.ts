import { beforeAll, describe, expect, test } from 'bun:test';
import { chmod, mkdir, readdir, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { contextIn, type ToolFixture, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { findSandbox } from './sandbox.ts';
import { shell } from './tool.ts';

const sandbox = await findSandbox();

// In CI the sandbox must be available: a skipped escape attempt proves nothing.
const skipped = !sandbox && !process.env.CI;

describe.skipIf(skipped)('escape attempts in the sandbox (skipped if bubblewrap does not work)', () => {
  beforeAll(() => {
    if (!sandbox) throw new Error('bubblewrap does not work on this machine');
  });

  const run = async (place: ToolFixture, script: string, hide: string[] = []) => {
    const tool = shell('shell', { sandbox, hide });
    const result = await use(tool, { command: ['bash', '-c', script] }, contextIn(place.root));
    return { output: String(result.data?.output), exitCode: Number(result.data?.exit_code) };
  };

  test('writing outside the root fails', async () => {
    await using place = await toolFixture();
    for (const path of [
      '/etc/parlance-escape',
      '/usr/parlance-escape',
      '/opt/parlance-escape',
      '/var/tmp/parlance-escape',
    ]) {
      expect((await run(place, `echo x > ${path}`)).exitCode).not.toBe(0);
      expect(await Bun.file(path).exists()).toBe(false);
    }
    await run(place, 'echo x > ../escaped; echo x > ~/parlance-escape');
    expect(await Bun.file(join(homedir(), 'parlance-escape')).exists()).toBe(false);
    expect(await readdir(place.outside)).toEqual(['root']);
  });

  test('a read-only command can write nothing', async () => {
    await using place = await toolFixture();
    const tool = shell('shell', { sandbox, hide: [] });
    const view = { root: place.root, workdir: place.root, hide: [], looks: true };
    const inside = await sandbox?.enter(['sh', '-c', 'ls; touch made'], view);
    const child = Bun.spawn(inside?.argv ?? [], { stdout: 'pipe', stderr: 'ignore' });
    expect(await child.exited).not.toBe(0);
    await place.write('a.txt', 'a');
    const autoApproved = contextIn(place.root, { permission: 'safe' });
    expect((await use(tool, { command: ['cat', 'a.txt'] }, autoApproved)).data?.output).toBe('a');
    expect(await readdir(place.root)).toEqual(['a.txt']);
  });

  test('/tmp is private', async () => {
    await using place = await toolFixture();
    const name = `parlance-private-${crypto.randomUUID()}`;
    expect((await run(place, `echo x > /tmp/${name} && cat /tmp/${name}`)).output).toBe('x\n');
    expect(await Bun.file(`/tmp/${name}`).exists()).toBe(false);
  });

  test('writing through a symbolic link that leads outside fails', async () => {
    await using place = await toolFixture();
    await Bun.write(join(place.outside, 'target'), 'before');
    await symlink(join(place.outside, 'target'), join(place.root, 'link'));
    await run(place, 'echo after > link; ln -s /etc etc; echo x > etc/parlance-escape');
    expect(await Bun.file(join(place.outside, 'target')).text()).toBe('before');
    expect(await Bun.file('/etc/parlance-escape').exists()).toBe(false);
  });

  test('the network is unreachable: /dev/tcp, DNS and programs', async () => {
    await using place = await toolFixture();
    let reached = 0;
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => {
        reached++;
        return new Response('reached');
      },
    });
    const request = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
    const script = `exec 3<>/dev/tcp/127.0.0.1/${server.port} && { ${request}; }`;
    const outside = Bun.spawn(['bash', '-c', script], { stdout: 'pipe' });
    expect(await new Response(outside.stdout).text()).toContain('reached');
    expect((await run(place, script)).exitCode).not.toBe(0);
    expect((await run(place, `curl -s http://127.0.0.1:${server.port}/`)).exitCode).not.toBe(0);
    expect((await run(place, 'getent hosts example.org')).exitCode).not.toBe(0);
    expect(reached).toBe(1);
  });

  test('no file of the kernel in /proc and /sys opens for writing; they can be read', async () => {
    await using place = await toolFixture();
    // Opens without writing or truncating; those of processes are of the sandbox's own.
    const script = `opened=0; tried=0
      while IFS= read -r file; do
        tried=$((tried + 1)); { true >> "$file"; } 2>/dev/null && { opened=$((opened + 1)); echo "$file"; }
      done < <(find /proc /sys -regextype posix-extended -regex '/proc/[0-9]+' -prune -o -type f -print)
      echo "opened $opened of $((tried > 500))"; read -r kernel < /proc/sys/kernel/ostype; echo "$kernel"`;
    const { output } = await run(place, script);
    expect(output).toBe('opened 0 of 1\nLinux\n');
  });

  test('sockets of services in /run are not visible', async () => {
    await using place = await toolFixture();
    expect((await run(place, 'find /run -type s')).output).toBe('');
  });

  test('killing other processes fails', async () => {
    await using place = await toolFixture();
    const victim = Bun.spawn(['sleep', '600']);
    try {
      expect((await run(place, `kill -9 ${victim.pid}`)).exitCode).not.toBe(0);
      expect((await run(place, `ls /proc/${victim.pid}`)).exitCode).not.toBe(0);
      expect(victim.exitCode).toBeNull();
      expect(victim.killed).toBe(false);
    } finally {
      victim.kill();
    }
  });

  test('the environment of the server is not readable from /proc', async () => {
    await using place = await toolFixture();
    const { output } = await run(place, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '");
    expect(output).not.toContain('bun');
    expect((await run(place, `cat /proc/${process.pid}/environ`)).exitCode).not.toBe(0);
  });

  test('the hidden folder is empty, inside the root and outside', async () => {
    await using place = await toolFixture();
    await place.write('.data/key', 'secret');
    await mkdir(join(place.outside, 'data'));
    await Bun.write(join(place.outside, 'data', 'key'), 'secret');
    await Bun.write(join(place.outside, 'key-file'), 'secret');
    const hide = [join(place.root, '.data'), join(place.outside, 'data'), join(place.outside, 'key-file')];
    const script = 'cat .data/key ../data/key ../key-file; ls -A .data; mv .data moved; rm -rf .data';
    const { output } = await run(place, `${script}; umount .data; cat .data/key`, hide);
    expect(output).not.toContain('secret');
    expect(await place.read('.data/key')).toBe('secret');
  });

  test('git hooks and config cannot be written, replaced or redirected; git itself still works', async () => {
    await using place = await toolFixture();
    Bun.spawnSync(['git', 'init', '-q'], { cwd: place.root });
    const config = await place.read('.git/config');
    const attempts = [
      'echo x > .git/hooks/pre-commit',
      'echo x >> .git/config',
      'rm -f .git/config',
      'rm -rf .git/hooks',
      'mv .git/hooks .git/other',
      'echo x > new && mv new .git/config',
      'mv .git .git-before',
      'git config core.fsmonitor ./evil',
    ];
    for (const attempt of attempts)
      expect([attempt, (await run(place, attempt)).exitCode]).not.toEqual([attempt, 0]);
    await run(place, 'mkdir evil; echo ../evil > .git/commondir');
    expect(await Bun.file(join(place.root, '.git/commondir')).exists()).toBe(false);
    expect(await place.read('.git/config')).toBe(config);
    expect(await readdir(join(place.root, '.git/hooks'))).not.toContain('pre-commit');
    const commit =
      'echo x > a && git add a && git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline';
    expect((await run(place, commit)).output).toContain('one');
  });

  const approved = async (place: ToolFixture, command: string[]) => {
    const context = contextIn(place.root, { permission: 'approved' });
    const { data } = await use(shell('shell', { sandbox, hide: [] }), { command }, context);
    return { output: String(data?.output), exitCode: Number(data?.exit_code) };
  };

  test.each([
    [['git', 'config', 'user.name', 'Ada']],
    [['git', 'remote', 'add', 'origin', 'https://example.org/r.git']],
    [['bash', '-c', "git config user.email a@b && git config --unset user.email; git remote add x 'y z'"]],
  ])('an approved command that changes settings of git works: %p', async (command) => {
    await using place = await toolFixture();
    Bun.spawnSync(['git', 'init', '-q'], { cwd: place.root });
    const before = await place.read('.git/config');
    expect(await approved(place, command)).toEqual({ output: '', exitCode: 0 });
    expect(await place.read('.git/config')).not.toBe(before);
  });

  test.each([
    'git config core.fsmonitor ./evil && ./build',
    'git config --edit',
    'git config --ed',
    'git config edit',
    'git remote add -f origin ./other',
    'git remote update',
    'git commit --allow-empty -m x',
    'git -c core.editor=./evil config -e',
    'echo x >> .git/config',
  ])('settings stay read-only for any other approved command: %s', async (script) => {
    await using place = await toolFixture();
    Bun.spawnSync(['git', 'init', '-q'], { cwd: place.root });
    await place.write('evil', '#!/bin/sh\necho x >> .git/config\n');
    await chmod(join(place.root, 'evil'), 0o755);
    const before = await place.read('.git/config');
    await approved(place, ['bash', '-c', script]);
    expect(await place.read('.git/config')).toBe(before);
  });

  test('a missing hooks folder cannot be created', async () => {
    await using place = await toolFixture();
    Bun.spawnSync(['git', 'init', '-q', '--template='], { cwd: place.root });
    await run(place, 'mkdir -p .git/hooks; echo x > .git/hooks/pre-commit');
    expect(await Bun.file(join(place.root, '.git/hooks/pre-commit')).exists()).toBe(false);
  });

  test('no privilege is left or can be gained', async () => {
    await using place = await toolFixture();
    const { output } = await run(place, 'grep -E "^(CapEff|NoNewPrivs)" /proc/self/status');
    expect(output).toMatch(/CapEff:\s+0+\n/);
    expect(output).toMatch(/NoNewPrivs:\s+1/);
    expect((await run(place, 'mount -o remount,rw /')).exitCode).not.toBe(0);
  });
});
