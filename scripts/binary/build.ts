/**
 * `npm run build:binary [-- --target bun-linux-arm64] [--out FILE]`: builds the command line, the server and
 * the console as one executable. For another platform, its Bun is downloaded.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Glob } from 'bun';

const ROOT = join(import.meta.dir, '../..');
const CONSOLE = join(ROOT, 'packages/web/dist');
const DOCS = join(ROOT, 'docs/.vitepress/dist');

/** The compressed files of a build, and their list. */
const filesIn = (folder: string): string[] =>
  [...new Glob('**/*.gz').scanSync(folder), 'manifest.json'].map((path) => join(folder, path));

/** Leaves out the documentation if it is not built. */
function embeddedFiles(): string[] {
  const built = [CONSOLE, DOCS].filter((folder) => existsSync(join(folder, 'manifest.json')));
  if (!built.includes(CONSOLE)) throw new Error('build the console first: npm run build');
  return built.flatMap(filesIn);
}

export async function buildBinary(outfile: string, target?: Bun.Build.CompileTarget): Promise<void> {
  mkdirSync(dirname(outfile), { recursive: true });
  await Bun.build({
    entrypoints: [join(ROOT, 'packages/cli/src/executable.ts'), ...embeddedFiles()],
    root: ROOT,
    // Most of it is loaded on demand.
    splitting: true,
    target: 'bun',
    minify: { whitespace: true, syntax: true },
    // Starts with two thirds of the CPU time, and is an eighth larger. It may depend on the platform.
    format: 'esm',
    bytecode: target === undefined,
    naming: { asset: '[dir]/[name].[ext]' },
    compile: {
      outfile,
      ...(target && { target }),
      // Tools work in the current folder, whose files must not run code in the server.
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadPackageJson: false,
      autoloadTsconfig: false,
    },
    plugins: [
      {
        name: 'embedded files',
        setup: (build) => {
          build.onLoad({ filter: /\/(web|\.vitepress)\/dist\// }, async ({ path }) => ({
            contents: await Bun.file(path).bytes(),
            loader: 'file',
          }));
        },
      },
    ],
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: { target: { type: 'string' }, out: { type: 'string' } },
  });
  const target = values.target as Bun.Build.CompileTarget | undefined;
  const name = `parlance-${(target ?? `bun-${process.platform}-${process.arch}`).replace(/^bun-/, '')}`;
  const outfile = resolve(values.out ?? join(ROOT, 'dist', name));
  await buildBinary(outfile, target);
  console.log(outfile);
}
