/**
 * Builds the console into `dist`: content-hashed names that browsers cache forever, precompressed files, and a
 * `manifest.json` that lists what may be served.
 */
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'bun';
import { replaceFolder } from '../../scripts/replace-folder.ts';

const ROOM = import.meta.dir;
const DIST = join(ROOM, 'dist');
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/manifest+json',
  png: 'image/png',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

type Listed = {
  readonly type: string;
  readonly etag: string;
  readonly bytes: number;
  readonly gzip: number;
};
const files: Record<string, Listed> = {};
/** the folder that is built */
let next = '';
/** hashes of inline scripts, for the content security policy */
const scripts: string[] = [];

async function write(path: string, content: string | Uint8Array<ArrayBuffer>): Promise<void> {
  const type = TYPES[path.split('.').at(-1) ?? ''];
  if (type === undefined) throw new Error(`nothing is known about files like ${path}`);
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const packed = gzipSync(bytes, { level: 9 });
  await Bun.write(join(next, path), bytes);
  await Bun.write(join(next, `${path}.gz`), packed);
  const etag = `"${Bun.hash(bytes).toString(36)}"`;
  files[path] = { type, etag, bytes: bytes.length, gzip: packed.length };
}

/** Writes a file under a content-hashed name; returns its URL. */
async function asset(name: string, content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const [stem = '', ...endings] = name.split('.');
  const path = `assets/${stem}-${Bun.hash(content).toString(36)}.${endings.join('.')}`;
  await write(path, content);
  return `/${path}`;
}

/** The stylesheet of KaTeX and its fonts, in the format that every browser with our other features reads. */
async function katexStyle(): Promise<string> {
  const folder = dirname(Bun.resolveSync('katex/dist/katex.min.css', join(ROOM, '../ui')));
  let css = await Bun.file(join(folder, 'katex.min.css')).text();
  css = css.replace(/,url\([^)]+\.(?:woff|ttf)\) format\("\w+"\)/g, '');
  for (const [, file = ''] of [...css.matchAll(/url\((fonts\/[^)]+\.woff2)\)/g)]) {
    const font = new Uint8Array(await Bun.file(join(folder, file)).arrayBuffer());
    css = css.replaceAll(`url(${file})`, `url(${await asset(basename(file), font)})`);
  }
  return asset('katex.css', css);
}

/** A script and all that it imports, for places that take no modules. */
async function classicScript(name: string, define: Record<string, string> = {}): Promise<string> {
  const built = await Bun.build({
    entrypoints: [join(ROOM, 'src', name)],
    target: 'browser',
    format: 'iife',
    minify: true,
    define,
  });
  const script = await built.outputs[0]?.text();
  if (script === undefined) throw new Error(`the bundler made no script of ${name}`);
  return script;
}

/** The page of the frame that draws diagrams, with its script inside: a sandboxed frame has no origin to load one with. */
async function diagramPage(): Promise<string> {
  const bundled = await classicScript('diagram-frame.ts', { 'process.env.NODE_ENV': '"production"' });
  const code = bundled.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const page = await Bun.file(join(ROOM, 'src/diagram-frame.html')).text();
  scripts.push(new Bun.CryptoHasher('sha256').update(code).digest('base64'));
  return asset(
    'diagram.html',
    page.replace('SCRIPT', () => code),
  );
}

/** The worker that reads documents, with all libraries: its policy lets it load nothing. */
async function documentWorker(): Promise<string> {
  const built = await Bun.build({
    entrypoints: [join(ROOM, '../ui/src/documents/worker.ts')],
    target: 'browser',
    format: 'esm',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const script = await built.outputs[0]?.text();
  if (script === undefined) throw new Error('the bundler made no worker');
  return asset('document-worker.js', script);
}

/** Writes an icon; returns its URL. */
const icon = async (name: string): Promise<string> =>
  asset(name, new Uint8Array(await Bun.file(join(ROOM, 'src', name)).arrayBuffer()));

/** Replaces the names of icons by their URLs. */
async function withIcons(text: string): Promise<string> {
  let replaced = text;
  for (const name of [...new Bun.Glob('icon*.{svg,png}').scanSync(join(ROOM, 'src'))].sort())
    if (text.includes(`"${name}"`)) replaced = replaced.replaceAll(`"${name}"`, `"${await icon(name)}"`);
  return replaced;
}

/** Scripts that render content, which is not there without the server. */
const RENDERERS = /^assets\/(?:katex|highlight|draw-diagram|document-worker)-/;

/** The service worker, with the files that it keeps: the page, what it loads at once, and its other scripts. */
async function serviceWorker(page: string): Promise<string> {
  const isKept = (path: string) =>
    page.includes(`"/${path}"`) || (/^assets\/.+\.js$/.test(path) && !RENDERERS.test(path));
  const loaded = Object.keys(files).filter(isKept);
  const shell = { name: Bun.hash(page).toString(36), files: ['/', ...loaded.map((path) => `/${path}`)] };
  return classicScript('service-worker.ts', { SHELL: JSON.stringify(shell) });
}

async function build(folder: string): Promise<void> {
  next = folder;
  const built = await Bun.build({
    entrypoints: [join(ROOM, 'src/main.tsx')],
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]' },
    publicPath: '/assets/',
    define: {
      'process.env.NODE_ENV': '"production"',
      KATEX_STYLE: JSON.stringify(await katexStyle()),
      DOCUMENT_WORKER: JSON.stringify(await documentWorker()),
      PREVIEW_PAGE: JSON.stringify(
        await asset('preview.html', await Bun.file(join(ROOM, 'src/preview-frame.html')).text()),
      ),
      DIAGRAM_PAGE: JSON.stringify(await diagramPage()),
      LOGO: JSON.stringify(await icon('icon.svg')),
      APP_ICON: JSON.stringify(await icon('icon-192.png')),
    },
  });
  const styles = await Bun.build({ entrypoints: [join(ROOM, 'src/styles/index.css')], minify: true });
  for (const output of built.outputs) await write(`assets/${basename(output.path)}`, await output.text());
  const entry = built.outputs.find(({ kind }) => kind === 'entry-point');
  const style = styles.outputs[0];
  if (!entry || !style) throw new Error('the bundler made no entry point');

  const source = (name: string) => Bun.file(join(ROOM, 'src', name)).text();
  const page = (await withIcons(await source('index.html')))
    .replace('STYLE', await asset('style.css', await style.text()))
    .replace('THEME', await asset('theme.js', await classicScript('theme-on-load.ts')))
    .replace('SCRIPT', `/assets/${basename(entry.path)}`)
    .replace(
      'APPLICATION',
      await asset('application.json', await withIcons(await source('application.json'))),
    );
  await write('index.html', page);
  await write('service-worker.js', await serviceWorker(page));
  await Bun.write(join(next, 'manifest.json'), JSON.stringify({ files, scripts }, null, 2));
}

const began = performance.now();
await replaceFolder(DIST, build);
const page = await Bun.file(join(DIST, 'index.html')).text();
const first = Object.entries(files).filter(([path]) => path === 'index.html' || page.includes(path));
const kilobytes = (first.reduce((sum, [, { gzip }]) => sum + gzip, 0) / 1024).toFixed(0);
console.log(
  `the console is built: ${Object.keys(files).length} files, ${kilobytes} KB for the first view, ${(performance.now() - began).toFixed(0)} ms`,
);
