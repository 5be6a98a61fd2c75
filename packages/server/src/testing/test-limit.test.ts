import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FILE = `
import { beforeAll, expect, test } from 'bun:test';
import { until } from '${join(import.meta.dir, 'until.ts')}';

let program;
beforeAll(() => {
  program = Bun.spawn(['sleep', '600']);
});
test('does not end', () => new Promise(() => undefined));
test('waits in vain', () => until(() => false));
test('needs the program of the file', async () => {
  await Bun.sleep(10);
  expect(program.signalCode).toBeNull();
  program.kill();
});
`;

test('a test or a wait that takes too long fails alone: the processes of its file continue', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-limit-'));
  await Bun.write(join(folder, 'some.test.ts'), FILE);
  const child = Bun.spawn(
    [process.execPath, 'test', '--preload', join(import.meta.dir, 'test-limit.ts'), './some.test.ts'],
    {
      cwd: folder,
      env: { ...process.env, PARLANCE_TEST_SLOWNESS: '0.0001' },
      stderr: 'pipe',
      stdout: 'ignore',
    },
  );
  const output = await child.stderr.text();
  rmSync(folder, { recursive: true });
  expect(output).toContain('The test did not end within');
  expect(output).toContain('did not become true');
  expect(output.match(/^\((pass|fail)\) [\w ]+\w/gm)).toEqual([
    '(fail) does not end',
    '(fail) waits in vain',
    '(pass) needs the program of the file',
  ]);
});
