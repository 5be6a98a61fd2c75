/**
 * Finds and loads the packages of the AI SDK that the operator has installed. They are taken only from the given
 * `node_modules` folders: with the usual resolution, a folder above the data folder (a cloned repository) could provide
 * the package, or one that it imports.
 */

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject, parsedObject } from '@parlance/protocol';

export type InstalledPackage = {
  readonly version: string;
  /** why it cannot be loaded; null if it can */
  readonly problem: string | null;
  /** path of the module */
  readonly entry: string;
};

/** Null if it is in none of the folders. Loads nothing. */
export function findPackage(name: string, folders: readonly string[]): InstalledPackage | null {
  for (const folder of folders) {
    const path = join(folder, name);
    const about = aboutIn(path);
    if (!about) continue;
    const entry = join(path, entryOf(about));
    const missing = missingIn(path, folder, new Set());
    return { version: String(about.version), entry, problem: missing && `${missing}: install it again` };
  }
  return null;
}

const loaded = new Map<string, Promise<object>>();

/** The exports of a module that `findPackage` has found. */
export function loadPackage({ entry }: InstalledPackage): Promise<object> {
  const known = loaded.get(entry);
  if (known) return known;
  const module = import(pathToFileURL(entry).href) as Promise<object>;
  loaded.set(entry, module);
  module.catch(() => loaded.delete(entry));
  return module;
}

function aboutIn(path: string): Record<string, unknown> | null {
  const file = join(path, 'package.json');
  return existsSync(file) ? parsedObject(readFileSync(file, 'utf8')) : null;
}

function entryOf({ exports, module, main }: Record<string, unknown>): string {
  const target = (of: unknown): string | null => {
    if (typeof of === 'string') return of;
    return isObject(of) ? target(of['.'] ?? of.import ?? of.default) : null;
  };
  return target(exports) ?? target(module) ?? target(main) ?? 'index.js';
}

/** What a package imports has to be in the same folder: it would be looked for in those above. */
function missingIn(path: string, folder: string, seen: Set<string>): string | null {
  if (seen.has(path)) return null;
  seen.add(path);
  if (!`${realpathSync(path)}${sep}`.startsWith(`${realpathSync(folder)}${sep}`))
    return `${path} is a link to another folder`;
  const { dependencies, peerDependencies, peerDependenciesMeta } = aboutIn(path) ?? {};
  const isOptional = (name: string) =>
    isObject(peerDependenciesMeta) &&
    isObject(peerDependenciesMeta[name]) &&
    peerDependenciesMeta[name].optional === true;
  const names = [
    ...Object.keys(dependencies ?? {}),
    ...Object.keys(peerDependencies ?? {}).filter((name) => !isOptional(name)),
  ];
  for (const name of names) {
    const found = located(name, path, folder);
    const problem = found === null ? `${name} is missing` : missingIn(found, folder, seen);
    if (problem !== null) return problem;
  }
  return null;
}

/** As modules are resolved, but not above `folder`. */
function located(name: string, from: string, folder: string): string | null {
  for (let at = from; at.length >= dirname(folder).length; at = dirname(at)) {
    const path = join(at, 'node_modules', name);
    if (existsSync(join(path, 'package.json'))) return path;
  }
  return null;
}
