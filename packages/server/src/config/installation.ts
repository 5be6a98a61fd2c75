/** Location of the server's own code, and the tools' working directory inside of it. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { isObject } from '@parlance/protocol';
import { isCompiled } from '../lib/compiled.ts';
import { contains } from '../tools/paths.ts';

const CHECKOUT = 'parlance';

const isCheckout = (folder: string): boolean => {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return false;
  const about: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return isObject(about) && about.name === CHECKOUT;
};

/** The checkout (or its copy in an image) that contains `folder`; else the outermost `node_modules`, else `folder`. */
function installationOf(folder: string): string {
  const packages = `${sep}node_modules`;
  const at = `${folder}${sep}`.indexOf(`${packages}${sep}`);
  if (at >= 0) return folder.slice(0, at + packages.length);
  for (let parent = folder; dirname(parent) !== parent; parent = dirname(parent)) {
    if (isCheckout(parent)) return parent;
  }
  return folder;
}

/** The single executable is its own installation: the folder that it is in may be used for anything else. */
export const INSTALLATION = isCompiled
  ? realpathSync(process.execPath)
  : installationOf(realpathSync(import.meta.dir));

/** The only folder in the installation that tools may change. Ignored by git. */
export const WORKSPACE = join(INSTALLATION, 'workspace');

/** Whether `folder` is inside the server's own code, by its real path. */
export const isInstallation = (path: string): boolean =>
  contains(INSTALLATION, path) && !contains(WORKSPACE, path);

/** The `node_modules` folders that packages of vendors are loaded from: of the data folder, and of the installation. */
export const packageFolders = (data: string): string[] => [
  join(data, 'packages', 'node_modules'),
  ...(isCompiled
    ? []
    : [INSTALLATION.endsWith('node_modules') ? INSTALLATION : join(INSTALLATION, 'node_modules')]),
];

export const installCommand = (name: string, data: string): string =>
  `npm install --prefix ${join(data, 'packages')} ${name}`;
