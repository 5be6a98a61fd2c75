/**
 * `npm run release -- VERSION [--out FOLDER]`: sets the version everywhere, gives the unreleased changes a
 * heading, and writes tarballs, the executable for this platform, the extension, a bill of materials and
 * checksums to a folder. Commits and publishes nothing.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isVersion, releasedChangelog, replacedVersion, updatedLock, updatedManifest } from './versions.ts';

const ROOT = join(import.meta.dir, '../..');

/** Files that contain the version, and the text before it. */
const MENTIONS: Readonly<Record<string, string>> = {
  'clients/c/CMakeLists.txt': 'project(parlance_c VERSION ',
  'compose.yaml': 'image: parlance:',
  'docs/guides/cluster/parlance.yaml': 'image: parlance:',
  'docs/guides/container.md': 'FROM parlance:',
};

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: ROOT });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stdout}${stderr}`);
  return stdout.toString();
}

function change(path: string, edit: (text: string) => string): void {
  const file = join(ROOT, path);
  writeFileSync(file, edit(readFileSync(file, 'utf8')));
}

function setVersion(version: string): void {
  const workspaces = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/package.json`);
  const manifests = ['package.json', ...workspaces];
  const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  const ours = new Set(manifests.map((path): string => read(path).name));
  const from: string = read('package.json').version;
  for (const path of manifests) change(path, (text) => updatedManifest(text, version, ours));
  change('package-lock.json', (text) => updatedLock(text, version, ours));
  for (const [path, before] of Object.entries(MENTIONS))
    change(path, (text) => replacedVersion(text, before, { from, to: version }));
  run('npm', 'run', 'docs');
}

async function writeArtefacts(out: string, version: string): Promise<void> {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const pack = ['npm', 'pack', '--pack-destination', out];
  run(...pack);
  run(...pack, '--workspace', '@parlance/protocol', '--workspace', '@parlance/sdk');
  const platform = `${process.platform}-${process.arch}`;
  // `npm pack` has built its contents.
  run(process.execPath, 'scripts/binary/build.ts', '--out', join(out, `parlance-${version}-${platform}`));
  cpSync(
    join(ROOT, 'packages/extension/parlance-extension.zip'),
    join(out, `parlance-extension-${version}.zip`),
  );
  run('npm', 'run', 'sbom', '--', join(out, `parlance-${version}.cdx.json`));
  writeFileSync(join(out, 'SHA256SUMS'), checksums(out));
}

/** In the format of `sha256sum -c`. */
const checksums = (folder: string): string =>
  readdirSync(folder)
    .sort()
    .map((name) => {
      const hash = new Bun.CryptoHasher('sha256').update(readFileSync(join(folder, name))).digest('hex');
      return `${hash}  ${name}\n`;
    })
    .join('');

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: { out: { type: 'string' } },
  allowPositionals: true,
});
const [version = ''] = positionals;
if (!isVersion(version) || positionals.length !== 1) {
  console.error('usage: npm run release -- VERSION [--out FOLDER], as in: npm run release -- 0.2.0');
  process.exit(2);
}
if (run('git', 'status', '--porcelain') !== '') {
  console.error('release: the working tree has changes: commit or stash them first');
  process.exit(1);
}
const out = resolve(values.out ?? join(ROOT, 'dist', version));
change('CHANGELOG.md', (text) => releasedChangelog(text, version, new Date().toISOString().slice(0, 10)));
setVersion(version);
await writeArtefacts(out, version);
console.log(`${run('ls', '-l', out)}
${out} is complete. If it is right:
  git commit -am "chore: release ${version}" && git tag v${version}`);
