/** Packs our packages and installs them into empty folders, like users. */
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildLibrary, type Library } from '../../scripts/packages/build.ts';

export const ROOT = join(import.meta.dir, '../..');

export const emptyFolder = (): string => mkdtempSync(join(tmpdir(), 'parlance-packages-'));

/** Standard output. Throws with all output if the program fails. */
export async function run(command: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? cwd, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${out}${err}`);
  return out;
}

/** Returns the path of the tarball. */
async function pack(folder: string, destination: string): Promise<string> {
  const out = await run(
    ['npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', destination],
    folder,
  );
  const parsed: { filename: string }[] | Record<string, { filename: string }> = JSON.parse(out);
  const [packed] = Object.values(parsed);
  if (!packed) throw new Error(`npm packed nothing: ${out}`);
  return join(destination, packed.filename);
}

/** Packs `parlance`; builds the console, the extension and the server before. */
export async function packProgram(destination: string): Promise<string> {
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
  await run(['sh', 'scripts/build-if-stale'], ROOT, { PATH: path });
  return pack(ROOT, destination);
}

/** Built in a separate folder, because other tests build the libraries in place. */
export async function packLibrary(name: Library, destination: string): Promise<string> {
  const folder = join(destination, name);
  mkdirSync(folder);
  for (const file of ['package.json', 'README.md', 'LICENSE'])
    cpSync(join(ROOT, 'packages', name, file), join(folder, file));
  await buildLibrary(name, join(folder, 'dist'));
  return pack(folder, destination);
}

/** Install scripts do not run, as in npm 12 and pnpm. */
export async function install(folder: string, packages: readonly string[]): Promise<void> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await run(['npm', 'install', ...options, ...packages], folder);
}
