/**
 * `npm run build:docs`: builds the documentation and lists its files for the server, which runs this when the
 * documentation of a clone is first asked for.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { CryptoHasher, Glob, gzipSync } from 'bun';

const ROOT = join(import.meta.dir, '..');
const DIST = join(ROOT, 'docs/.vitepress/dist');
/** Has packages of its own, which nothing else needs. */
const GENERATOR = join(ROOT, 'docs/.vitepress');
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
  webp: 'image/webp',
  woff2: 'font/woff2',
};

const INLINE_SCRIPT = /<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g;

run('node', 'scripts/install.mjs', GENERATOR);
run('node', join(GENERATOR, 'node_modules/vitepress/bin/vitepress.js'), 'build', 'docs');

copyFileSync(join(ROOT, 'packages/web/src/icon.svg'), join(DIST, 'icon.svg'));

const files: Record<string, { type: string; etag: string }> = {};
const scripts = new Set<string>();
for (const path of new Glob('**/*').scanSync({ cwd: DIST })) {
  const type = TYPES[path.split('.').at(-1) ?? ''];
  if (type === undefined || path === 'manifest.json') continue;
  const bytes = await Bun.file(join(DIST, path)).bytes();
  await Bun.write(join(DIST, `${path}.gz`), gzipSync(bytes));
  files[path] = { type, etag: `"${Bun.hash(bytes).toString(36)}"` };
  if (path.endsWith('.html'))
    for (const [, script = ''] of new TextDecoder().decode(bytes).matchAll(INLINE_SCRIPT))
      scripts.add(new CryptoHasher('sha256').update(script).digest('base64'));
}
await Bun.write(join(DIST, 'manifest.json'), JSON.stringify({ files, scripts: [...scripts] }, null, 2));
console.log(`the documentation is built: ${Object.keys(files).length} files`);

function run(...command: string[]): void {
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' });
  if (success) return;
  console.error(`${stdout}${stderr}`.trim());
  process.exit(1);
}
