/** Commands that use up memory, processes or disk space: all of them bounded, with limits far below what a machine has. */
import { describe, expect, test } from 'bun:test';
import { readdir } from 'node:fs/promises';
import { contextIn, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { findSandbox } from './sandbox.ts';
import { shell } from './tool.ts';

const MIB = 1_048_576;
/** Other tests use the same disk. */
const limits = { memory: 64 * MIB, processes: 30, disk: 1_000_000 * MIB };
const found = await findSandbox();

const HOGS: [name: string, script: string, reason: string][] = [
  [
    'memory of one process',
    '(head -c 300000000 /dev/zero; sleep 300) | tail -n 1 | wc -c',
    'it used more than 64 MiB of memory',
  ],
  [
    'memory of many processes',
    'for i in 1 2 3 4 5; do (head -c 25000000 /dev/zero; sleep 300) | tail -n 1 | wc -c & done; wait',
    'it used more than 64 MiB of memory',
  ],
  [
    'processes that start processes',
    'bomb() { [ $1 -gt 8 ] && sleep 300; bomb $(($1+1)) & bomb $(($1+1)) & wait; }; bomb 0',
    'it had more than 30 processes and threads',
  ],
  [
    'processes in sessions of their own',
    'for i in $(seq 60); do setsid sleep 300 & done; wait',
    'it had more than 30 processes and threads',
  ],
  [
    'disk space',
    'for i in $(seq 50); do head -c 5000000 /dev/zero > file$i; done; sleep 300',
    '64 MiB of disk space were used up while it ran',
  ],
];

for (const sandbox of found ? [null, found] : [null]) {
  describe(sandbox ? 'in the sandbox' : 'without a sandbox', () => {
    const tool = shell('shell', { sandbox, hide: [], limits });
    const full = shell('shell', { sandbox, hide: [], limits: { ...limits, disk: 64 * MIB } });
    const run = async (script: string, root: string) =>
      (
        await use(
          script.includes('file$i; done; sleep') ? full : tool,
          { command: ['bash', '-c', script], timeout: 300_000 },
          contextIn(root),
        )
      ).data;

    test.each(HOGS)(
      'a command that uses up %s is stopped, and its result says why',
      async (_, script, reason) => {
        await using place = await toolFixture();
        // A shell may say that it cannot fork while it is being stopped.
        const data = await run(`echo started; exec 2> /dev/null; ${script}`, place.root);
        expect(data).toMatchObject({
          exit_code: 137,
          output: `started\nThe command was stopped: ${reason}.\n`,
        });
        expect(await run('echo next', place.root)).toMatchObject({ exit_code: 0, output: 'next\n' });
      },
    );

    test('a command below the limits is not affected', async () => {
      await using place = await toolFixture();
      const script =
        'for i in 1 2 3 4 5; do (sleep 0.5; head -c 1000000 /dev/zero > file$i) & done; head -c 5000000 /dev/zero | tail -n 1 | wc -c; wait; ulimit -c';
      expect(await run(script, place.root)).toMatchObject({ exit_code: 0, output: '5000000\n0\n' });
      expect(await readdir(place.root)).toHaveLength(5);
    });
  });
}

describe.skipIf(!found)('what the sandbox keeps in memory', () => {
  const tool = shell('shell', { sandbox: found, hide: [], limits });

  test('is limited: /tmp, /run, /dev/shm and /dev', async () => {
    await using place = await toolFixture();
    const script =
      'for f in /tmp/f /run/f /dev/shm/f /dev/f; do head -c 60000000 /dev/zero > $f; stat -c %s $f; done 2>/dev/null; true';
    const result = await use(tool, { command: ['bash', '-c', script] }, contextIn(place.root));
    expect(result.data).toMatchObject({ exit_code: 0, output: `${32 * MIB}\n${MIB}\n${16 * MIB}\n` });
  });

  test('can be used, and so can devices', async () => {
    await using place = await toolFixture();
    const script =
      'echo a > /tmp/a; echo b > /dev/shm/b; cat /tmp/a /dev/shm/b; echo c > /dev/null; head -c 3 /dev/urandom | wc -c; cat < <(echo d)';
    const result = await use(tool, { command: ['bash', '-c', script] }, contextIn(place.root));
    expect(result.data).toMatchObject({ exit_code: 0, output: 'a\nb\n3\nd\n' });
  });
});
