/** The launcher sets the engine's memory by names that belong to one version of Bun: another would pass over them silently. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';

test('the engine knows every setting that the launcher makes', async () => {
  const launcher = await Bun.file(join(import.meta.dir, '../bin/parlance')).text();
  const made = [...launcher.matchAll(/^export BUN_JSC_(\w+)=/gm)].map(([, name]) => name);
  expect(made.length).toBeGreaterThan(0);
  const env = { ...process.env, BUN_JSC_dumpOptions: '3' };
  const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', '0'], { env });
  const known = new Set([...`${stdout}${stderr}`.matchAll(/^\s*(\w+)=/gm)].map(([, name]) => name));
  expect(made.filter((name) => !known.has(name))).toEqual([]);
});
