import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestFailures } from './test-failures.ts';

test('failures inside and outside of tests are found in the output, wherever it is split', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trouble-'));
  writeFileSync(
    join(folder, 'inside.test.ts'),
    `import { test } from 'bun:test';
     test('is well', () => {});
     test('is not', () => { throw new Error('no good') });`,
  );
  writeFileSync(
    join(folder, 'outside.test.ts'),
    `import { afterAll, test } from 'bun:test';
     afterAll(async () => { setTimeout(() => { throw new Error('too late') }, 0); await Bun.sleep(20); });
     test('is well', () => {});`,
  );
  const { stderr } = Bun.spawnSync([process.execPath, 'test'], { cwd: folder, stderr: 'pipe' });
  rmSync(folder, { recursive: true });
  const printed = stderr.toString();
  for (const piece of [printed.length, 1, 7]) {
    const failures = new TestFailures();
    for (let at = 0; at < printed.length; at += piece) failures.add(printed.slice(at, at + piece));
    const found = [...failures.found].sort();
    expect(found).toHaveLength(2);
    expect(found[0]).toMatch(/^inside\.test\.ts:\n[\s\S]*error: no good[\s\S]*\(fail\) is not/);
    expect(found[1]).toMatch(/^outside\.test\.ts:\n# Unhandled error between tests\n[\s\S]*error: too late/);
    expect([...failures.files].sort()).toEqual(['inside.test.ts', 'outside.test.ts']);
    expect(found.join()).not.toContain('is well [');
  }
});

test('the output of concurrent files is attributed to each file', () => {
  const failures = new TestFailures();
  failures.add(`
one.test.ts:
(pass) is well [1ms]
error: no good

two.test.ts:
(pass) is well [1ms]
error: worse

one.test.ts:
(fail) is not [1ms]

two.test.ts:
(fail) is not, either [1ms]

1 tests failed:
(fail) is not [1ms]
`);
  expect(failures.found).toEqual([
    'one.test.ts:\nerror: no good\n\n(fail) is not [1ms]',
    'two.test.ts:\nerror: worse\n\n(fail) is not, either [1ms]',
  ]);
});

test('a crashed test process is a failure of the file that it ran', () => {
  const failures = new TestFailures();
  failures.add(
    'one.test.ts:\n(pass) is well [1ms]\n\ntwo.test.ts:\n✗ two.test.ts (worker crashed: SIGKILL)\n',
  );
  expect(failures.files).toEqual(['two.test.ts']);
});
