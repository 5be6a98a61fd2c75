/** The server uses dialects through their descriptors: their names occur only in their own folders and in the list. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { DIALECT_NAMES } from './names.ts';

const SOURCE = join(import.meta.dir, '..');
const NAME = new RegExp(`(['"\`])(${DIALECT_NAMES.join('|')})\\1`, 'g');

const isTestSupport = (path: string): boolean =>
  /\.test\.ts$|(^|\/)(testing|test-[\w-]+|suite)\.ts$|(^|\/)(testing|suite|contract)\//.test(path);
const isOwn = (path: string): boolean =>
  path === 'dialects/names.ts' || DIALECT_NAMES.some((name) => path.startsWith(`dialects/${name}/`));
/** Some dialects have the name of a vendor whose models can be selected. */
const isVendor = (path: string): boolean =>
  /^(config\/(settings\/)?model|compose\/model-provider|providers\/[\w-]+)\.ts$/.test(path);
/** Terms of a dialect's contract that are names of other dialects. */
const OWN_TERMS: Readonly<Record<string, readonly string[]>> = { openai: ['mcp'] };
const withoutComments = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');

test('no dialect name appears outside of its folder and the list', async () => {
  const paths = [...new Glob('**/*.ts').scanSync(SOURCE)].filter(
    (path) => !isTestSupport(path) && !isOwn(path) && !isVendor(path),
  );
  expect(paths.length).toBeGreaterThan(200);
  const found: string[] = [];
  for (const path of paths) {
    const source = withoutComments(await Bun.file(join(SOURCE, path)).text());
    for (const [name] of source.matchAll(NAME)) found.push(`${path}: ${name}`);
  }
  expect(found).toEqual([]);
});

test('a dialect does not name another one', async () => {
  const found: string[] = [];
  for (const own of DIALECT_NAMES)
    for (const path of new Glob(`dialects/${own}/**/*.ts`).scanSync(SOURCE)) {
      if (isTestSupport(path)) continue;
      const source = withoutComments(await Bun.file(join(SOURCE, path)).text());
      for (const [text, , name] of source.matchAll(NAME)) {
        if (name !== own && !OWN_TERMS[own]?.includes(name ?? '')) found.push(`${path}: ${text}`);
      }
    }
  expect(found).toEqual([]);
});
