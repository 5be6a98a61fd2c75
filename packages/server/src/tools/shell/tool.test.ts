import { heapStats } from 'bun:jsc';
import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { contextIn, faultOf, type ToolFixture, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { slowness, until } from '../../testing/until.ts';
import { findSandbox } from './sandbox.ts';
import { shell } from './tool.ts';

const found = await findSandbox();

/** A duration for `sleep` that no process of another test run has. */
const sleepFor = (test: number) => `6${process.pid}${test}`;

/** Enough for a command to start, on a busy machine as well. */
const shortMs = () => Math.round(400 * slowness());

/** Memory of all values that cannot be collected. */
function heldBytes(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}

/** Resolves when the file exists and is not empty. */
const appears = (place: ToolFixture, path: string): Promise<string> =>
  until(() => place.read(path).catch(() => ''));

for (const sandbox of found ? [null, found] : [null]) {
  describe(sandbox ? 'shell in the sandbox' : 'shell without a sandbox', () => {
    const tool = shell('shell', { sandbox, hide: [] });
    const run = (place: ToolFixture, input: object) => use(tool, input, contextIn(place.root));

    test('returns output, exit code and duration', async () => {
      await using place = await toolFixture();
      const result = await run(place, { command: ['echo', 'hello'] });
      expect(result.parts).toEqual([{ type: 'text', text: 'hello\n' }]);
      expect(result.data).toMatchObject({ output: 'hello\n', exit_code: 0 });
      expect(String(result.data?.duration_seconds)).toMatch(/^\d+(\.\d)?$/);
      expect(result.failed).toBe(false);
    });

    test('joins both outputs in write order', async () => {
      await using place = await toolFixture();
      const command = ['sh', '-c', 'echo 1; echo 2 >&2; echo 3; echo 4 >&2; exit 3'];
      const result = await run(place, { command });
      expect(result.data).toMatchObject({ output: '1\n2\n3\n4\n', exit_code: 3 });
      expect(result.failed).toBe(true);
    });

    test('arguments reach the program unchanged', async () => {
      await using place = await toolFixture();
      const words = ['$HOME', '`id`', 'a b', "it's", '*', '--', ''];
      const result = await run(place, { command: ['printf', '[%s]', ...words] });
      expect(result.data?.output).toBe(words.map((word) => `[${word}]`).join(''));
    });

    test('reports a command without output', async () => {
      await using place = await toolFixture();
      const result = await run(place, { command: ['true'] });
      expect(result.parts).toEqual([{ type: 'text', text: '(no output, exit code 0)' }]);
      expect(result.data?.output).toBe('');
    });

    test('a cd alone has no effect, and tells whether there is such a folder', async () => {
      await using place = await toolFixture();
      await place.write('sub/a.txt', 'a');
      for (const permission of ['safe', 'mode', 'approved'] as const) {
        const context = contextIn(place.root, { permission });
        const cd = (folder: string) => use(tool, { command: ['cd', folder] }, context);
        expect((await cd('sub')).data).toMatchObject({ output: '', exit_code: 0 });
        const missing = await cd('missing');
        expect([missing.failed, String(missing.data?.output)]).toEqual([
          true,
          expect.stringContaining('missing'),
        ]);
      }
    });

    test('runs in the workdir and can write there', async () => {
      await using place = await toolFixture();
      await place.write('sub/a.txt', 'a');
      const result = await run(place, { command: ['sh', '-c', 'pwd; echo b > b.txt'], workdir: 'sub' });
      expect(result.data?.output).toBe(`${place.root}/sub\n`);
      expect(await place.read('sub/b.txt')).toBe('b\n');
    });

    test('a workdir outside the root is refused', async () => {
      await using place = await toolFixture();
      await symlink(place.outside, join(place.root, 'link'));
      for (const workdir of ['..', '/', 'link', '../root/..']) {
        const fault = await faultOf(run(place, { command: ['touch', 'made'], workdir }));
        expect(fault.code).toBe('tool_invalid');
      }
      expect(await Bun.file(join(place.outside, 'made')).exists()).toBe(false);
    });

    test('a missing workdir, or a file, is a fault', async () => {
      await using place = await toolFixture();
      await place.write('file', 'x');
      for (const workdir of ['none', 'file']) {
        expect((await faultOf(run(place, { command: ['ls'], workdir }))).code).toBe('tool_failed');
      }
    });

    test('a missing program has exit code 127', async () => {
      await using place = await toolFixture();
      for (const program of ['no-such-program', './no-such-program']) {
        const result = await run(place, { command: [program] });
        expect(result.failed).toBe(true);
        expect(result.data?.output).toContain('no-such-program');
      }
      expect((await run(place, { command: ['no-such-program'] })).data?.exit_code).toBe(127);
    });

    test('the environment contains no secret', async () => {
      await using place = await toolFixture();
      process.env.PARLANCE_TEST_API_KEY = 'do-not-show';
      try {
        const result = await run(place, { command: ['env'] });
        expect(result.data?.output).toContain('PATH=');
        expect(result.data?.output).not.toContain('do-not-show');
      } finally {
        delete process.env.PARLANCE_TEST_API_KEY;
      }
    });

    test('1 MB of output is cut to head and tail', async () => {
      await using place = await toolFixture();
      const result = await run(place, { command: ['sh', '-c', 'echo first; seq 200000; echo last'] });
      const output = String(result.data?.output);
      expect(output.length).toBeLessThan(11_000);
      expect(output).toStartWith('first\n1\n2\n');
      expect(output).toEndWith('200000\nlast\n');
      expect(output).toMatch(/\[… \d{7} bytes \(about \d{6} lines\) left out …\]/);
    });

    test('100 MB of output are not held in memory', async () => {
      await using place = await toolFixture();
      const before = heldBytes();
      let most = before;
      let looking: Timer | undefined;
      const look = () => {
        const began = performance.now();
        most = Math.max(most, heldBytes());
        // A collection takes long if other tests have left a large heap: most of the time is for the output.
        looking = setTimeout(look, Math.max(20, 5 * (performance.now() - began)));
      };
      look();
      const command = ['head', '-c', '100000000', '/dev/zero'];
      const result = await run(place, { command, timeout: 600_000 });
      clearTimeout(looking);
      expect(result.data?.exit_code).toBe(0);
      expect(Math.max(most, heldBytes()) - before).toBeLessThan(60_000_000);
    });

    test('a timeout has exit code 124 and a message, and the output until then is returned', async () => {
      await using place = await toolFixture();
      const command = ['sh', '-c', 'echo begun; sleep 600'];
      const result = await run(place, { command, timeout: shortMs() });
      expect(result.data?.exit_code).toBe(124);
      expect(result.data?.output).toMatch(/^begun\nThe command was stopped after [\d.]+ s \(timeout\)\.\n$/);
      expect(result.failed).toBe(true);
    });

    test('a timeout kills grandchildren', async () => {
      await using place = await toolFixture();
      const script = `sh -c 'sleep ${sleepFor(1)} & wait' & wait`;
      await run(place, { command: ['sh', '-c', script], timeout: shortMs() });
      await noneRuns(sleepFor(1));
    });

    test('background processes end with the command', async () => {
      await using place = await toolFixture();
      const result = await run(place, { command: ['sh', '-c', `sleep ${sleepFor(2)} & echo done`] });
      expect(result.data).toMatchObject({ output: 'done\n', exit_code: 0 });
      await noneRuns(sleepFor(2));
    });

    test('an abort kills the command and cancels the call', async () => {
      await using place = await toolFixture();
      const abort = new AbortController();
      const command = ['sh', '-c', `echo up > up; sleep ${sleepFor(3)} & wait`];
      const call = use(tool, { command, timeout: 60_000 }, contextIn(place.root, { signal: abort.signal }));
      await appears(place, 'up');
      abort.abort();
      expect((await faultOf(call)).code).toBe('cancelled');
      await noneRuns(sleepFor(3));
    });

    test('an abort right after the start, or before it, leaves nothing running', async () => {
      await using place = await toolFixture();
      for (let round = 0; round < 10; round++) {
        const abort = new AbortController();
        const call = use(
          tool,
          { command: ['sleep', sleepFor(4)] },
          contextIn(place.root, { signal: abort.signal }),
        );
        if (round % 2 === 0) await new Promise(setImmediate);
        abort.abort();
        expect((await faultOf(call)).code).toBe('cancelled');
      }
      await noneRuns(sleepFor(4));
    });

    test('a command that reads standard input finds it empty', async () => {
      await using place = await toolFixture();
      expect((await run(place, { command: ['cat'] })).data).toMatchObject({ output: '', exit_code: 0 });
    });

    test('a patch passed to the shell is applied, relative to the workdir', async () => {
      await using place = await toolFixture();
      await place.write('sub/b.txt', 'b\n');
      const patch = '*** Begin Patch\n*** Update File: b.txt\n-b\n+c\n*** End Patch';
      const command = ['bash', '-lc', `apply_patch <<'EOF'\n${patch}\nEOF`];
      const result = await run(place, { command, workdir: 'sub' });
      expect(result.data).toMatchObject({ exit_code: 0, output: 'Applied:\nM b.txt' });
      expect(await place.read('sub/b.txt')).toBe('c\n');
    });
  });
}

describe('without a sandbox', () => {
  const tool = shell('shell', { sandbox: null, hide: [] });
  const daemon = (seconds: string, clear = '') =>
    `${clear} setsid sh -c 'echo $$ > pid; exec sleep ${seconds}' & while ! [ -s pid ]; do :; done; echo done`;

  test('a process that left its group neither delays the result nor outlives the command', async () => {
    await using place = await toolFixture();
    const result = await use(tool, { command: ['sh', '-c', daemon(sleepFor(5))] }, contextIn(place.root));
    expect(result.data).toMatchObject({ output: 'done\n', exit_code: 0 });
    await noneRuns(sleepFor(5));
  });

  test('a process that also cleared its environment is killed with a stopped command', async () => {
    await using place = await toolFixture();
    const script = `${daemon(sleepFor(6), 'env -i PATH="$PATH"')}; sleep 600`;
    const result = await use(
      tool,
      { command: ['sh', '-c', script], timeout: 4 * shortMs() },
      contextIn(place.root),
    );
    expect(result.data).toMatchObject({ exit_code: 124 });
    await noneRuns(sleepFor(6));
  });

  test('a concurrent command and its background processes are not affected', async () => {
    await using place = await toolFixture();
    const other = use(
      tool,
      { command: ['sh', '-c', 'echo > up; until [ -e go ]; do sleep 0.01; done; echo fine'] },
      contextIn(place.root),
    );
    await until(() => existsSync(join(place.root, 'up')));
    const first = await use(
      tool,
      { command: ['sh', '-c', 'sh -c "echo child" & wait; echo ended'] },
      contextIn(place.root),
    );
    expect(first.data).toMatchObject({ output: 'child\nended\n', exit_code: 0 });
    await place.write('go', '');
    expect((await other).data).toMatchObject({ output: 'fine\n', exit_code: 0 });
  });
});

/** Resolves when no `sleep` with this argument runs. */
const noneRuns = (argument: string): Promise<boolean> =>
  until(async () => {
    const running = existsSync('/proc/self') ? await argumentsFromProc() : argumentsFromPs();
    return !running.some((line) => line.startsWith('sleep') && line.includes(argument));
  });

async function argumentsFromProc(): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (id: string) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
  return (await Promise.all(ids.map(read))).map((line) => line.replaceAll('\0', ' '));
}

const argumentsFromPs = (): string[] => Bun.spawnSync(['ps', '-eo', 'args']).stdout.toString().split('\n');
