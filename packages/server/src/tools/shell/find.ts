/** Recognises uses of find that only list. */
import { linksStayInside } from './links.ts';
import { allOpen, foldersOf, type Rule } from './rule.ts';

/** Tests and actions without an argument. Excluded because they run or write: -exec, -ok, -delete, -fprint, -fls. */
const ALONE = new Set([
  ...['-depth', '-d', '-mount', '-xdev', '-noleaf', '-daystart', '-ignore_readdir_race', '-warn', '-nowarn'],
  ...['-empty', '-readable', '-writable', '-executable', '-true', '-false', '-nouser', '-nogroup'],
  ...['-print', '-print0', '-ls', '-prune', '-quit', '-follow'],
  ...['-not', '!', '-a', '-and', '-o', '-or', '(', ')', ','],
]);
const WITH_VALUE = new Set([
  ...[
    '-name',
    '-iname',
    '-path',
    '-ipath',
    '-wholename',
    '-iwholename',
    '-lname',
    '-ilname',
    '-regex',
    '-iregex',
  ],
  ...[
    '-regextype',
    '-type',
    '-xtype',
    '-size',
    '-perm',
    '-user',
    '-group',
    '-uid',
    '-gid',
    '-links',
    '-inum',
  ],
  ...['-mtime', '-atime', '-ctime', '-mmin', '-amin', '-cmin', '-used', '-maxdepth', '-mindepth', '-printf'],
  ...['-fstype', '-newermt'],
]);
/** Tests that compare with a file. */
const WITH_FILE = new Set(['-newer', '-anewer', '-cnewer', '-samefile']);

export const findRule: Rule = async (words, place) => {
  const todo = [...words];
  let follows = false;
  while (todo[0] !== undefined && /^-[HLP]$/.test(todo[0])) follows = todo.shift() !== '-P' || follows;
  const paths: string[] = [];
  while (todo[0] !== undefined && !/^[-(),!]/.test(todo[0])) paths.push(todo.shift() ?? '');
  const files = [...paths];
  for (let word = todo.shift(); word !== undefined; word = todo.shift()) {
    if (word === '-follow') follows = true;
    if (ALONE.has(word)) continue;
    const value = todo.shift();
    if (value === undefined) return null;
    if (WITH_FILE.has(word)) files.push(value);
    else if (!WITH_VALUE.has(word)) return null;
  }
  if (!allOpen(files, place)) return null;
  return !follows || (await linksStayInside(foldersOf(paths, place.cwd), place.scope)) ? words : null;
};
