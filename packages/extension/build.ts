/**
 * Builds the extension into `dist`, and a zip of it beside it. The worker and the panel are modules; the scripts that are
 * injected into pages are classic scripts without imports.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { zipSync } from 'fflate';
import { replaceFolder } from '../../scripts/replace-folder.ts';
import { version } from './package.json' with { type: 'json' };

const ROOM = import.meta.dir;
const DIST = join(ROOM, 'dist');
const ZIP = join(ROOM, 'parlance-extension.zip');

/** Modules of the extension's own pages. */
const MODULES = { background: 'src/background/main.ts', sidepanel: 'src/panel/main.tsx' };
/** Classic scripts for web pages. */
const SCRIPTS = { content: 'src/content/main.ts', 'page-world': 'src/page-world/main.ts' };

async function bundle(output: string, entry: string, format: 'esm' | 'iife'): Promise<void> {
  const built = await Bun.build({
    entrypoints: [join(ROOM, entry)],
    target: 'browser',
    format,
    minify: { whitespace: true, syntax: true },
    define: {
      'process.env.NODE_ENV': '"production"',
      KATEX_STYLE: '"katex/katex.min.css"',
      // The policy of extensions allows no such frame: diagrams stay source.
      DIAGRAM_PAGE: '"about:blank"',
    },
  });
  const [script] = built.outputs;
  if (!script) throw new Error(`nothing was built from ${entry}`);
  await Bun.write(output, script);
}

async function build(next: string): Promise<void> {
  for (const [name, entry] of Object.entries(MODULES)) await bundle(join(next, `${name}.js`), entry, 'esm');
  for (const [name, entry] of Object.entries(SCRIPTS)) await bundle(join(next, `${name}.js`), entry, 'iife');
  const styles = await Bun.build({ entrypoints: [join(ROOM, 'src/panel/styles/index.css')], minify: true });
  const [style] = styles.outputs;
  if (!style) throw new Error('the style sheet was not built');
  await Bun.write(join(next, 'sidepanel.css'), style);
  cpSync(join(ROOM, 'src/panel/sidepanel.html'), join(next, 'sidepanel.html'));
  cpSync(join(ROOM, 'icons'), join(next, 'icons'), { recursive: true });
  copyKatex(join(next, 'katex'));
  const manifest = readFileSync(join(ROOM, 'manifest.json'), 'utf8').replace('VERSION', version);
  writeFileSync(join(next, 'manifest.json'), manifest);
}

/** The style of formulas, with its fonts. */
function copyKatex(folder: string): void {
  const style = Bun.resolveSync('katex/dist/katex.min.css', join(ROOM, '../ui'));
  mkdirSync(join(folder, 'fonts'), { recursive: true });
  cpSync(style, join(folder, 'katex.min.css'));
  const fonts = join(dirname(style), 'fonts');
  for (const font of readdirSync(fonts))
    if (font.endsWith('.woff2')) cpSync(join(fonts, font), join(folder, 'fonts', font));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** The same files give the same bytes. */
function zipped(folder: string): Uint8Array {
  const files = filesIn(folder).map((path) => [path, new Uint8Array(readFileSync(join(folder, path)))]);
  return zipSync(Object.fromEntries(files), { level: 9, mtime: new Date(1980, 0, 1) });
}

const began = performance.now();
await replaceFolder(DIST, build);
const zip = `${ZIP}-${process.pid}`;
writeFileSync(zip, zipped(DIST));
renameSync(zip, ZIP);
console.log(
  `the extension is built: ${relative(process.cwd(), DIST)}, ${(performance.now() - began).toFixed(0)} ms`,
);
