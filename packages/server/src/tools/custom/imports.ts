/**
 * Finds what the operator's modules import. Agents must not change any of it, since the server would run it at its next
 * start, and must not be able to put something else in its place. Where that cannot be prevented, the start is refused.
 *
 * Finds imports with a fixed name. What code opens by itself (workers, child processes, data) is protected only in the
 * folder of the module.
 */
import { lstatSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, extname, isAbsolute, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../../lib/errors.ts';
import { contains } from '../paths.ts';
import { PROVIDED } from './provided-module.ts';

export type Imports = {
  /** files and folders that agents must not change; a file that does not exist must not be created */
  readonly readOnly: readonly string[];
  /** folders in the read-only ones in which build tools keep their caches, and from which nothing is imported */
  readonly writable: readonly string[];
};

const LOADERS: Readonly<Record<string, 'ts' | 'tsx' | 'jsx'>> = {
  ...{ '.ts': 'ts', '.mts': 'ts', '.cts': 'ts', '.tsx': 'tsx' },
  ...{ '.js': 'jsx', '.mjs': 'jsx', '.cjs': 'jsx', '.jsx': 'jsx' },
};
/** Tried after a name without extension. */
const EXTENSIONS = [...Object.keys(LOADERS), '.json', '.jsonc', '.toml', '.yaml', '.yml', '.node', '.wasm'];
/** A name that ends in `.js` may be that of a TypeScript file. */
const COMPILED = /\.[mc]?jsx?$/;
const PACKAGES = 'node_modules';
const CACHES = ['.cache', '.vite', '.vite-temp'];

/** `root` is the folder that agents work in. Throws an error whose message names the module. */
export function findImports(modules: readonly string[], root: string): Imports {
  const search = new Search(realpathSync(root));
  for (const module of modules) if (exists(module)) search.module(module);
  return {
    readOnly: [...search.folders, ...search.files],
    writable: [...search.folders]
      .filter((folder) => basename(folder) === PACKAGES)
      .flatMap((folder) => CACHES.map((name) => join(folder, name))),
  };
}

class Search {
  readonly files = new Set<string>();
  readonly folders = new Set<string>();
  readonly #root: string;
  #module = '';
  #queue: string[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  module(module: string): void {
    this.#module = module;
    this.#refuseLinks(module);
    const file = realpathSync(module);
    this.#protect(dirname(file));
    this.#queue = [file];
    const seen = new Set<string>();
    for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      this.files.add(next);
      for (const name of importedBy(next)) this.#import(name, next);
    }
  }

  #import(name: string, from: string): void {
    if (name === PROVIDED || isBuiltin(name) || /^(bun$|bun:|data:|https?:)/.test(name)) return;
    const path = name.startsWith('file:') ? fileURLToPath(name) : name;
    if (isAbsolute(path) || /^\.\.?(\/|$)/.test(path)) this.#importFile(path, from);
    else if (name.startsWith('#')) this.#importMapped(name, from);
    else this.#importPackage(name, from);
  }

  #importFile(name: string, from: string): void {
    const path = resolve(dirname(from), name.replace(/\?.*$/, ''));
    const places = placesOf(path);
    const present = places.filter(exists);
    for (const place of present) this.#refuseLinks(place);
    const found = resolved(name, from);
    const isExact = isFile(path);
    if (this.#isOpen(dirname(path)) && !isExact) {
      if (present.length > 1)
        throw this.#problem(name, from, `which can be ${present.join(' or ')}: write the extension`);
      if (found === null) throw this.#problem(name, from, 'which does not exist: agents could create it');
      for (const place of places) this.files.add(place);
    }
    if (found === null) return;
    // A folder has a package.json or an index file that decides what is imported.
    if (!isExact && contains(path, found) && !this.#protect(path))
      throw this.#problem(name, from, 'a folder that agents work in');
    this.#queue.push(found);
  }

  /** By the `imports` of the next package.json. */
  #importMapped(name: string, from: string): void {
    const folder = ancestors(dirname(from)).find((above) => exists(join(above, 'package.json')));
    if (folder !== undefined && this.#isOpen(folder))
      throw this.#problem(
        name,
        from,
        `which ${join(folder, 'package.json')} decides: agents could change it`,
      );
    const found = resolved(name, from);
    if (found !== null) this.#queue.push(found);
  }

  #importPackage(name: string, from: string): void {
    const [first = '', second = ''] = name.split('/');
    const short = first.startsWith('@') ? join(first, second) : first;
    const levels = ancestors(dirname(from)).filter((folder) => basename(folder) !== PACKAGES);
    const place = levels.map((folder) => join(folder, PACKAGES, short)).find(exists);
    // On all levels: nearer ones come first, and packages import others that may be missing now.
    for (const level of levels) if (this.#isOpen(level)) this.#closePackages(join(level, PACKAGES));
    const found = resolved(name, from);
    if (found === null) return;
    const owner = place === undefined ? null : realpathSync(place);
    const isMapped = owner === null || !contains(owner, found);
    if (isMapped && contains(this.#root, from))
      throw this.#problem(name, from, `which a tsconfig.json or package.json leads to ${found}`);
    const outermost = packagesAbove(found);
    if (outermost !== null) {
      this.#protect(outermost);
      return;
    }
    // A link to a folder of the same repository. Its package.json decides what is imported.
    if (owner !== null && !this.#protect(owner))
      throw this.#problem(name, from, `which is in ${owner}, where agents work`);
    this.#queue.push(found);
  }

  /** An empty folder is created where a package could be put in front of the imported one. */
  #closePackages(folder: string): void {
    this.#refuseLinks(folder);
    try {
      mkdirSync(folder, { recursive: true });
    } catch (thrown) {
      // Where the server may not write, its agents may not either.
      if (!['EACCES', 'EPERM', 'EROFS'].includes(errorCode(thrown) ?? '')) throw thrown;
    }
    this.#protect(folder);
  }

  /** False, and nothing is done, for a folder that contains the one that agents work in. */
  #protect(folder: string): boolean {
    if (contains(folder, this.#root)) return false;
    this.folders.add(folder);
    return true;
  }

  /** Whether agents can create files in it. */
  #isOpen(folder: string): boolean {
    return contains(this.#root, folder) && ![...this.folders].some((closed) => contains(closed, folder));
  }

  /** A link can be replaced, whatever protects its target. */
  #refuseLinks(path: string): void {
    for (const part of [path, ...ancestors(dirname(path))]) {
      if (!exists(part) || !lstatSync(part).isSymbolicLink()) continue;
      const entry = join(realpathSync(dirname(part)), basename(part));
      if (this.#isOpen(dirname(entry)))
        throw new Error(
          `the tool module ${this.#module} is reached through the link ${entry}, which agents could replace`,
        );
    }
  }

  #problem(name: string, from: string, reason: string): Error {
    const where = from === this.#module ? '' : ` (in ${from})`;
    return new Error(`the tool module ${this.#module} imports ${name}${where}, ${reason}`);
  }
}

function importedBy(file: string): string[] {
  const loader = LOADERS[extname(file)];
  if (loader === undefined || packagesAbove(file) !== null) return [];
  try {
    const { imports } = new Bun.Transpiler({ loader }).scan(readFileSync(file, 'utf8'));
    return imports.map(({ path }) => path);
  } catch {
    // The import itself reports what is wrong with it.
    return [];
  }
}

/** What a relative name can stand for. */
function placesOf(path: string): string[] {
  const bare = COMPILED.test(path) ? [path.replace(COMPILED, '')] : [];
  return [path, ...[path, ...bare].flatMap((start) => EXTENSIONS.map((extension) => start + extension))];
}

function resolved(name: string, from: string): string | null {
  try {
    return realpathSync(Bun.resolveSync(name, dirname(from)));
  } catch {
    return null;
  }
}

/** From the folder itself to the root of the file system. */
const ancestors = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...ancestors(dirname(folder))];

/** The outermost folder of packages that contains the file. */
function packagesAbove(file: string): string | null {
  const at = file.indexOf(`${sep}${PACKAGES}${sep}`);
  return at < 0 ? null : file.slice(0, at + 1 + PACKAGES.length);
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
