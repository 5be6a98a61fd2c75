/**
 * `node scripts/install.mjs [--omit=dev] [FOLDER]`: runs `npm ci` if a package of the lock file is missing or has another
 * version. With `--omit=dev`, only what the server is built from counts; development dependencies that are installed
 * stay. Runs before anything is installed, so it needs Node 20 and nothing else.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? '.';
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', folder);

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
const isPresent = (path) => existsSync(join(ROOT, path));
const isDev = ({ dev, devOptional }) => dev || devOptional;
// Optional packages may be for other platforms.
const required = Object.entries(packages).filter(([path, { optional }]) => path !== '' && !optional);
const omitsDev =
  process.argv.includes('--omit=dev') && !required.some(([path, entry]) => isDev(entry) && isPresent(path));
const needed = omitsDev ? required.filter(([, entry]) => !isDev(entry)) : required;

// npm writes this file when everything else is installed.
const isComplete = isPresent('node_modules/.package-lock.json') && needed.every(isInstalled);
if (!isComplete) process.exitCode = await install();

function isInstalled([path, { link, version }]) {
  const manifest = join(ROOT, path, 'package.json');
  return existsSync(manifest) && (link || JSON.parse(readFileSync(manifest, 'utf8')).version === version);
}

/** Returns the exit code of npm. */
async function install() {
  // NODE_ENV=production would leave out what the tests need.
  const args = ['ci', omitsDev ? '--omit=dev' : '--include=dev', '--no-audit', '--no-fund', '--no-progress'];
  // Only packages of the server may run scripts (`allowScripts` in package.json).
  if (folder !== '.') args.push('--ignore-scripts');
  console.log(`Installing ${needed.length} packages: npm ${args.slice(0, 2).join(' ')}`);
  const child = spawn('npm', args, { cwd: ROOT, stdio: 'inherit' });
  const isTerminal = process.stdout.isTTY;
  const progress = setInterval(
    () => {
      const present = needed.filter(([path]) => isPresent(join(path, 'package.json'))).length;
      if (present < needed.length)
        process.stdout.write(
          `${isTerminal ? '\r' : ''}${present} of ${needed.length}${isTerminal ? '' : '\n'}`,
        );
    },
    isTerminal ? 500 : 10_000,
  );
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.once('close', (status) => resolve(status ?? 1));
  });
  clearInterval(progress);
  if (isTerminal) process.stdout.write('\r\x1b[K');
  if (code !== 0) console.error(`The packages were not installed: npm ci ended with ${code}.`);
  return code;
}
