/** Sets the version of a release in our files. Pure. */

export const isVersion = (text: string): boolean => /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(text);

type Manifest = { name?: string; version?: string; [field: string]: unknown };

const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies'];

/**
 * Updates a package.json or an entry of the lock file: its own version, and those of our packages among its
 * dependencies.
 */
function updated(manifest: Manifest, version: string, ours: ReadonlySet<string>): Manifest {
  const changed: Manifest = { ...manifest, version };
  for (const kind of DEPENDENCIES) {
    const listed = manifest[kind] as Record<string, string> | undefined;
    if (!listed) continue;
    changed[kind] = Object.fromEntries(
      Object.entries(listed).map(([name, wanted]) => [name, ours.has(name) ? version : wanted]),
    );
  }
  return changed;
}

const formatted = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

export const updatedManifest = (text: string, version: string, ours: ReadonlySet<string>): string =>
  formatted(updated(JSON.parse(text), version, ours));

/** The lock file repeats the manifests of the workspaces. */
export function updatedLock(text: string, version: string, ours: ReadonlySet<string>): string {
  const lock = JSON.parse(text) as Manifest & { packages: Record<string, Manifest> };
  const packages = Object.fromEntries(
    Object.entries(lock.packages).map(([path, entry]) => [
      path,
      path.includes('node_modules/') ? entry : updated(entry, version, ours),
    ]),
  );
  return formatted({ ...lock, version, packages });
}

/** Gives the unreleased changes a heading. Throws if there are none. */
export function releasedChangelog(text: string, version: string, date: string): string {
  const heading = '## [Unreleased]\n';
  const at = text.indexOf(heading);
  const rest = text.slice(at + heading.length);
  const next = rest.search(/^## /m);
  const changes = next < 0 ? rest : rest.slice(0, next);
  if (at < 0 || changes.trim() === '') throw new Error('CHANGELOG.md has no unreleased changes');
  return `${text.slice(0, at)}${heading}\n## [${version}] - ${date}\n${rest}`;
}

/** Replaces the version in a file, directly after `before`. */
export const replacedVersion = (
  text: string,
  before: string,
  versions: { from: string; to: string },
): string => text.replaceAll(before + versions.from, before + versions.to);
