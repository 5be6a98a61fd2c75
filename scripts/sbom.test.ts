import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { makeBill } from './sbom.ts';

const ROOT = join(import.meta.dir, '..');

test('the bill of materials lists production dependencies, and neither tools nor development dependencies', async () => {
  const bill = await makeBill();
  const listed = bill.components.map((component) => component['bom-ref']);
  for (const path of new Glob('{,packages/*/}package.json').scanSync(ROOT)) {
    const { dependencies = {} }: { dependencies?: Record<string, string> } = await Bun.file(
      join(ROOT, path),
    ).json();
    for (const [name, version] of Object.entries(dependencies))
      expect(listed).toContain(`${name}@${version.replace('^', '')}`);
  }
  // dependencies of dependencies
  for (const name of ['d3-array', 'htmlparser2', '@opentelemetry/core', '@oven/bun-linux-x64'])
    expect(listed.some((ref) => ref.startsWith(`${name}@`))).toBe(true);
  for (const name of ['typescript', 'vitepress', 'vite', 'vue', 'esbuild', 'ai', 'openai', 'playwright-core'])
    expect(listed.some((ref) => ref.startsWith(`${name}@`))).toBe(false);
  expect(
    bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !listed.includes(ref)),
  ).toEqual([]);
});
