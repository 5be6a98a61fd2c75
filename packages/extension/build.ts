/**
 * Builds the extension into `dist`, and a zip of it beside it. The worker and the panel are modules; the scripts that are
 * injected into pages are classic scripts without imports. Replaces the previous build atomically.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { zipSync } from 'fflate';
import { version } from './package.json' with { type: 'json' };

const ROOM = import.meta.dir;
const DIST = join(ROOM, 'dist');
const ZIP = join(ROOM, 'parlance-extension.zip');
const NEXT = join(ROOM, `.dist-${process.pid}`);
const LAST = join(ROOM, `.dist-${process.pid}-last`);

/** Modules of the extension's own pages. */
const MODULES = { background: 'src/background/main.ts', sidepanel: 'src/panel/main.tsx' };
/** Classic scripts for web pages. */
const SCRIPTS = { content: 'src/content/main.ts', 'page-world': 'src/page-world/main.ts' };

async function bundle(name: string, entry: string, format: 'esm' | 'iife'): Promise<void> {
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
  const [output] = built.outputs;
  if (!output) throw new Error(`nothing was built from ${entry}`);
  await Bun.write(join(NEXT, `${name}.js`), output);
}

async function build(): Promise<void> {
  for (const [name, entry] of Object.entries(MODULES)) await bundle(name, entry, 'esm');
  for (const [name, entry] of Object.entries(SCRIPTS)) await bundle(name, entry, 'iife');
  const styles = await Bun.build({ entrypoints: [join(ROOM, 'src/panel/styles/index.css')], minify: true });
  const [style] = styles.outputs;
  if (!style) throw new Error('the style sheet was not built');
  await Bun.write(join(NEXT, 'sidepanel.css'), style);
  cpSync(join(ROOM, 'src/panel/sidepanel.html'), join(NEXT, 'sidepanel.html'));
  cpSync(join(ROOM, 'icons'), join(NEXT, 'icons'), { recursive: true });
  copyKatex();
  const manifest = readFileSync(join(ROOM, 'manifest.json'), 'utf8').replace('VERSION', version);
  writeFileSync(join(NEXT, 'manifest.json'), manifest);
}

/** The style of formulas, with its fonts. */
function copyKatex(): void {
  const style = Bun.resolveSync('katex/dist/katex.min.css', join(ROOM, '../ui'));
  const folder = join(NEXT, 'katex');
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

/** Another build may run at the same time: the last one wins. */
function put(): void {
  const zip = `${NEXT}.zip`;
  writeFileSync(zip, zipped(NEXT));
  for (let attempts = 0; ; attempts++) {
    rmSync(LAST, { recursive: true, force: true });
    try {
      if (existsSync(DIST)) renameSync(DIST, LAST);
      renameSync(NEXT, DIST);
      break;
    } catch (thrown) {
      if (attempts >= 10) throw thrown;
    }
  }
  renameSync(zip, ZIP);
}

const began = performance.now();
try {
  rmSync(NEXT, { recursive: true, force: true });
  mkdirSync(NEXT, { recursive: true });
  await build();
  put();
} finally {
  for (const left of [NEXT, LAST, `${NEXT}.zip`]) rmSync(left, { recursive: true, force: true });
}
console.log(
  `the extension is built: ${relative(process.cwd(), DIST)}, ${(performance.now() - began).toFixed(0)} ms`,
);
