/**
 * Installs the packages of a program into a separate folder, because they are not dependencies of this project.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the folder with the packages, such as `name@1.2.3`. It is reused by later runs. */
export async function installed(program: string, packages: readonly string[]): Promise<string> {
  const folder = join(tmpdir(), 'parlance-programs', program);
  const mark = join(folder, '.installed');
  const wanted = packages.join(' ');
  if (existsSync(mark) && (await Bun.file(mark).text()) === wanted) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const npm = Bun.spawn(
    ['npm', 'install', '--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', ...packages],
    {
      cwd: folder,
      stdout: 'inherit',
      stderr: 'inherit',
    },
  );
  if ((await npm.exited) !== 0) throw new Error(`${program} could not be installed`);
  writeFileSync(mark, wanted);
  return folder;
}
