/**
 * Reads the file names in the index of a repository. Git reads the files they name, without validating names
 * that it did not write.
 */
import { lstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import { contains } from '../paths.ts';
import type { Scope } from './scope.ts';

const HEADER_BYTES = 12;
/** Size up to the flags: times, numbers and the object id. */
const ENTRY_BYTES = 60;
const CHECKSUM_BYTES = 20;
const EXTENDED = 0x4000;
const NAME_LENGTH = 0xfff;

/**
 * Null if the index is not of version 2 or 3, is incomplete, or needs other files: a shared index, or sparse directory
 * entries.
 */
export function namesInIndex(index: Buffer): string[] | null {
  const end = index.length - CHECKSUM_BYTES;
  if (end < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = index.readUInt32BE(4);
  if (version !== 2 && version !== 3) return null;
  const names: string[] = [];
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    if (at + ENTRY_BYTES + 4 > end) return null;
    const flags = index.readUInt16BE(at + ENTRY_BYTES);
    const isExtended = (flags & EXTENDED) !== 0;
    if (isExtended && version < 3) return null;
    const start = at + ENTRY_BYTES + (isExtended ? 4 : 2);
    const nul = index.indexOf(0, start);
    const length = nul - start;
    // Git uses the length if it fits, and would then see a different next entry.
    if (nul < 0 || (flags & NAME_LENGTH) !== Math.min(length, NAME_LENGTH)) return null;
    names.push(index.toString('utf8', start, nul));
    at += (start - at + length + 8) & ~7;
  }
  return at <= end && extensionsAreOptional(index.subarray(at, end)) ? names : null;
}

/** Extensions with a capital letter are optional. */
function extensionsAreOptional(bytes: Buffer): boolean {
  let at = 0;
  while (at < bytes.length) {
    if (at + 8 > bytes.length || !/^[A-Z]/.test(bytes.toString('latin1', at, at + 1))) return false;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return at === bytes.length;
}

/** Whether all names are visible files in the root, without a link on the way. */
export function indexStaysInside(index: Buffer, { root, secrets }: Scope): boolean {
  const names = namesInIndex(index);
  if (!names) return false;
  const hidden = secrets
    .filter((path) => contains(root, path))
    .map((path) => relative(root, path).toLowerCase());
  const folders = new Set<string>();
  for (const name of names) {
    if (!isPlainName(name)) return false;
    const lower = name.toLowerCase();
    if (hidden.some((path) => lower === path || lower.startsWith(`${path}/`))) return false;
    for (let at = folderOf(name); at !== '' && !folders.has(at); at = folderOf(at)) folders.add(at);
  }
  return [...folders].every(
    (folder) => !lstatSync(join(root, folder), { throwIfNoEntry: false })?.isSymbolicLink(),
  );
}

const folderOf = (name: string): string => name.slice(0, Math.max(name.lastIndexOf('/'), 0));

/** Any segment that is empty, `.`, `..` or `.git`. */
const ODD_PART = /(^|\/)(\.{0,2}|\.git)(\/|$)/i;

/** A name that is not UTF-8 cannot be compared. */
const isPlainName = (name: string): boolean => !name.includes('\ufffd') && !ODD_PART.test(name);
