/** Read-only programs, with the options under which they only read, and what each use would read. */
import { basename } from 'node:path';
import { contains } from '../paths.ts';

import { gitRule } from './git.ts';
import { linksStayInside, type Scope } from './links.ts';

import { allOpen, type CommandScope, foldersOf, mayMeetSecrets, noneOutside, type Rule } from './rule.ts';

// Recognises uses of find that only list.

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

const findRule: Rule = async (words, place) => {
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

const anything: Rule = async (words) => words;

/** The operands that name files, and those that do not. */
type Operands = { readonly files: readonly string[]; readonly others: readonly string[] };

function filesAreOpen(read: ParsedWords, { files, others }: Operands, place: CommandScope): boolean {
  // As in `cut -d/`: one character is a separator, not a path.
  const values = read.values.map(({ value }) => value).filter((value) => value.length > 1);
  return allOpen([...files, ...read.files], place) && noneOutside([...others, ...values], place);
}

/** A program whose operands are files, with a further check of the options. */
const reader =
  (
    options: ProgramOptions,
    further: (read: ParsedWords, place: CommandScope) => boolean | Promise<boolean> = () => true,
    operandsOf: (read: ParsedWords) => Operands = ({ operands }) => ({ files: operands, others: [] }),
  ): Rule =>
  async (words, place) => {
    const read = parseWords(words, options);
    if (!read) return null;
    const operands = operandsOf(read);
    if (!filesAreOpen(read, operands, place)) return null;
    return (await further({ ...read, operands: operands.files }, place)) ? words : null;
  };

const has = ({ names }: ParsedWords, ...wanted: string[]): boolean => wanted.some((name) => names.has(name));

/** The first operand is a pattern, unless an option gives one. */
const afterPattern =
  (...givePattern: string[]) =>
  (read: ParsedWords) => {
    const count = has(read, ...givePattern) ? 0 : 1;
    return { files: read.operands.slice(count), others: read.operands.slice(0, count) };
  };

const ls: ProgramOptions = {
  flags: 'aAbBcCdfFgGhHikLlmnNopqQrRsStuUvxXZ1',
  valued: 'ITw',
  long: [
    ...[
      'all',
      'almost-all',
      'author',
      'escape',
      'ignore-backups',
      'classify',
      'color',
      'directory',
      'file-type',
    ],
    ...['full-time', 'no-group', 'group-directories-first', 'human-readable', 'si', 'inode', 'kibibytes'],
    ...['numeric-uid-gid', 'literal', 'hide-control-chars', 'show-control-chars', 'quote-name', 'reverse'],
    ...['recursive', 'size', 'dereference', 'zero', 'time'],
  ],
  longValued: [
    ...['block-size', 'format', 'hide', 'ignore', 'indicator-style', 'quoting-style', 'sort', 'time-style'],
    ...['tabsize', 'width'],
  ],
};

/** With `-L` it shows the targets of links. Without it, a recursive listing can show names in a hidden folder. */
function lsStaysInside(read: ParsedWords, { cwd, scope }: CommandScope): boolean | Promise<boolean> {
  if (!has(read, 'L', 'dereference')) return true;
  const depth = has(read, 'R', 'recursive') ? undefined : 1;
  return linksStayInside(foldersOf(read.operands, cwd), scope, depth);
}

const grep: ProgramOptions = {
  flags: 'EFGPiyvwxcLloqsbHhnTZaIrRUz',
  valued: 'emABCDd',
  files: 'f',
  counts: true,
  long: [
    ...['extended-regexp', 'fixed-strings', 'basic-regexp', 'perl-regexp', 'ignore-case', 'no-ignore-case'],
    ...[
      'word-regexp',
      'line-regexp',
      'null-data',
      'no-messages',
      'invert-match',
      'byte-offset',
      'line-number',
    ],
    ...[
      'line-buffered',
      'with-filename',
      'no-filename',
      'only-matching',
      'quiet',
      'silent',
      'text',
      'recursive',
    ],
    ...['dereference-recursive', 'files-without-match', 'files-with-matches', 'count', 'initial-tab', 'null'],
    ...['color', 'colour', 'binary'],
  ],
  longValued: [
    ...['regexp', 'max-count', 'label', 'binary-files', 'directories', 'devices', 'include', 'exclude'],
    ...['exclude-dir', 'after-context', 'before-context', 'context', 'group-separator'],
  ],
  longFiles: ['file', 'exclude-from'],
};

async function grepStaysInside(read: ParsedWords, { cwd, scope }: CommandScope): Promise<boolean> {
  const follows = has(read, 'R', 'dereference-recursive');
  const recurses = follows || has(read, 'r', 'recursive', 'd', 'directories');
  if (!recurses) return true;
  const folders = foldersOf(read.operands, cwd);
  return showsNothingHidden(folders, scope) && (!follows || linksStayInside(folders, scope));
}

/** For programs that read the files of a folder. */
function showsNothingHidden(folders: readonly string[], scope: Scope): boolean {
  if (folders.length > 0 && mayMeetSecrets(scope)) return false;
  return !folders.some((folder) => scope.hide.some((hidden) => contains(folder, hidden)));
}

/** Excluded because it runs a program: -l, --paginate. */
const diff: ProgramOptions = {
  flags: 'qsabBdeEinNpPrtTuwyZ',
  valued: 'CFILUWx',
  files: 'X',
  counts: true,
  long: [
    ...['brief', 'report-identical-files', 'text', 'ignore-space-change', 'ignore-blank-lines', 'minimal'],
    ...['ignore-case', 'new-file', 'show-c-function', 'recursive', 'expand-tabs', 'initial-tab', 'unified'],
    ...['context', 'ignore-all-space', 'ignore-trailing-space', 'side-by-side', 'left-column', 'color'],
    ...[
      'suppress-common-lines',
      'normal',
      'ed',
      'rcs',
      'no-dereference',
      'strip-trailing-cr',
      'ignore-tab-expansion',
    ],
  ],
  longValued: ['label', 'exclude', 'ignore-matching-lines', 'show-function-line', 'width', 'tabsize'],
  longFiles: ['exclude-from'],
};

/** Folders are compared file by file, and links among them are followed. */
async function diffStaysInside(read: ParsedWords, { cwd, scope }: CommandScope): Promise<boolean> {
  if (read.operands.length === 0) return true;
  const folders = foldersOf(read.operands, cwd);
  const depth = has(read, 'r', 'recursive') ? undefined : 1;
  return showsNothingHidden(folders, scope) && linksStayInside(folders, scope, depth);
}

/** Excluded because they write or run: -o, -T, --compress-program; because it reads a list of files: --files0-from. */
const sort: ProgramOptions = {
  flags: 'bcCdfghimMnRrsuVz',
  valued: 'kt',
  long: [
    ...[
      'ignore-leading-blanks',
      'dictionary-order',
      'ignore-case',
      'general-numeric-sort',
      'ignore-nonprinting',
    ],
    ...[
      'month-sort',
      'human-numeric-sort',
      'numeric-sort',
      'random-sort',
      'reverse',
      'version-sort',
      'check',
    ],
    ...['merge', 'stable', 'unique', 'zero-terminated'],
  ],
  longValued: ['key', 'field-separator', 'sort'],
};

/** Excluded because they follow links or read a list of files: -L, -D, -H, --files0-from. */
const du: ProgramOptions = {
  flags: '0abchklmPsSx',
  valued: 'Bdt',
  files: 'X',
  long: [
    ...['null', 'all', 'apparent-size', 'bytes', 'total', 'human-readable', 'inodes', 'count-links', 'si'],
    ...['no-dereference', 'separate-dirs', 'summarize', 'one-file-system', 'time'],
  ],
  longValued: ['block-size', 'max-depth', 'threshold', 'exclude', 'time-style'],
  longFiles: ['exclude-from'],
};

const ASKS_ABOUT_FILE = /^-[bcdefgGhkLNOprsSuwx]$/;
const COMPARES_FILES = /^-(nt|ot|ef)$/;
const COMPARES_NUMBERS = /^-(eq|ne|lt|le|gt|ge)$/;

/** One condition. In bash, other operators (`-v`) execute what a variable's index contains. */
const condition: Rule = async (words, place) => {
  const [left = '', operator = '', right = '', ...more] = words[0] === '!' ? words.slice(1) : words;
  const count = words.length - (words[0] === '!' ? 1 : 0);
  const holds = () => {
    if (more.length > 0) return false;
    if (count === 2)
      return /^-[nz]$/.test(left) || (ASKS_ABOUT_FILE.test(left) && allOpen([operator], place));
    if (count !== 3) return false;
    if (COMPARES_FILES.test(operator)) return allOpen([left, right], place);
    if (COMPARES_NUMBERS.test(operator)) return [left, right].every((value) => /^-?\d+$/.test(value));
    return /^(==?|!=)$/.test(operator);
  };
  return holds() ? words : null;
};

const bracketed: Rule = async (words, place) =>
  words.at(-1) === ']' && (await condition(words.slice(0, -1), place)) ? words : null;

/** With a second operand, it would write a file. */
const atMostOne = ({ operands }: ParsedWords): boolean => operands.length <= 1;

const checksum = reader({ flags: 'bt', long: ['binary', 'text', 'tag'] });

/** Excluded because they run a program: --pre, --hostname-bin, -z. */
const ripgrep: ProgramOptions = {
  flags: 'isSwxvclLnNoquUaFPHI0p.b',
  valued: 'egtTABCmMjrE',
  files: 'f',
  long: [
    ...['ignore-case', 'case-sensitive', 'smart-case', 'word-regexp', 'line-regexp', 'invert-match', 'count'],
    ...['count-matches', 'files-with-matches', 'files-without-match', 'follow', 'no-follow', 'line-number'],
    ...['no-line-number', 'only-matching', 'quiet', 'unrestricted', 'multiline', 'multiline-dotall', 'text'],
    ...['fixed-strings', 'pcre2', 'with-filename', 'no-filename', 'null', 'pretty', 'hidden', 'no-hidden'],
    ...[
      'byte-offset',
      'column',
      'no-column',
      'heading',
      'no-heading',
      'files',
      'json',
      'stats',
      'trim',
      'vimgrep',
    ],
    ...['passthru', 'no-ignore', 'no-ignore-vcs', 'no-ignore-dot', 'no-ignore-parent', 'no-ignore-global'],
    ...[
      'no-messages',
      'type-list',
      'one-file-system',
      'crlf',
      'block-buffered',
      'line-buffered',
      'mmap',
      'no-mmap',
    ],
    ...[
      'glob-case-insensitive',
      'null-data',
      'max-columns-preview',
      'no-config',
      'include-zero',
      'no-unicode',
    ],
  ],
  longValued: [
    ...['regexp', 'glob', 'iglob', 'type', 'type-not', 'type-add', 'type-clear', 'after-context', 'context'],
    ...[
      'before-context',
      'max-count',
      'max-columns',
      'max-depth',
      'maxdepth',
      'max-filesize',
      'threads',
      'replace',
    ],
    ...['encoding', 'color', 'colors', 'sort', 'sortr', 'context-separator', 'path-separator', 'engine'],
    ...['field-match-separator', 'field-context-separator', 'regex-size-limit', 'dfa-size-limit'],
  ],
  longFiles: ['file', 'ignore-file'],
};

/** Excludes hidden folders by name: an ignore file can otherwise make ripgrep search a folder with a leading dot. */
const ripgrepRule: Rule = async (words, place) => {
  const { cwd, scope } = place;
  const read = parseWords(words, ripgrep);
  if (!read) return null;
  const operands = afterPattern('e', 'f', 'regexp', 'file', 'files', 'type-list')(read);
  if (!filesAreOpen(read, operands, place)) return null;
  const folders = foldersOf(operands.files, cwd);
  if (folders.length > 0 && mayMeetSecrets(scope)) return null;
  if (has(read, 'L', 'follow') && !(await linksStayInside(folders, scope))) return null;
  const entered = scope.hide.filter((hidden) => folders.some((folder) => contains(folder, hidden)));
  // By name only: a search may reach the folder by more than one path.
  const left = entered.map((hidden) => basename(hidden));
  const overruled = has(read, 'g', 'glob', 'iglob');
  if (entered.length > 0 && (overruled || !left.every((name) => /^[\w.-]+$/.test(name)))) return null;
  return [...left.map((name) => `--glob=!${name}`), ...words];
};

/** `sed -n N[,M]p` and file names. sed also accepts options after them. */
const sed: Rule = async (words, place) => {
  const [quiet, expression, ...files] = words;
  if (quiet !== '-n' || !/^\d+(,\d+)?p$/.test(expression ?? '')) return null;
  return files.every((file) => !file.startsWith('-')) && allOpen(files, place) ? words : null;
};

const lookUp = reader({});

export const KNOWN_SAFE: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['true', anything],
  ['false', anything],
  ['echo', anything],
  ['basename', anything],
  ['dirname', anything],
  ['test', condition],
  ['[', bracketed],
  // Without -v it would run its operands.
  [
    'command',
    async (words, place) => (words[0] === '-v' ? (await lookUp(words.slice(1), place)) && words : null),
  ],
  // Another operand sets the clock.
  ['date', async (words) => (words.every((word) => /^(\+.*|-u|-R|-I\w*|--utc)$/s.test(word)) ? words : null)],
  ['whoami', reader({})],
  ['uname', reader({ flags: 'asnrvmpio' })],
  ['nproc', reader({ long: ['all'] })],
  ['realpath', reader({ flags: 'emqsz', longFiles: ['relative-to', 'relative-base'] })],
  ['readlink', reader({ flags: 'efmnz', long: ['canonicalize'] })],
  ['sort', reader(sort)],
  [
    'uniq',
    reader(
      {
        flags: 'cdDiuz',
        valued: 'fsw',
        long: ['count', 'repeated', 'all-repeated', 'group', 'ignore-case', 'unique', 'zero-terminated'],
        longValued: ['skip-fields', 'skip-chars', 'check-chars'],
      },
      atMostOne,
    ),
  ],
  [
    'cut',
    reader({
      flags: 'nsz',
      valued: 'bcdf',
      long: ['complement', 'only-delimited', 'zero-terminated'],
      longValued: ['bytes', 'characters', 'delimiter', 'fields', 'output-delimiter'],
    }),
  ],
  [
    'tr',
    reader(
      { flags: 'cCdst', long: ['complement', 'delete', 'squeeze-repeats', 'truncate-set1'] },
      () => true,
      () => ({ files: [], others: [] }),
    ),
  ],
  ['tac', reader({ flags: 'b', valued: 's' })],
  ['rev', reader({})],
  ['comm', reader({ flags: '123z', long: ['check-order', 'nocheck-order', 'total'] })],
  ['paste', reader({ flags: 'sz', valued: 'd', long: ['serial'], longValued: ['delimiters'] })],
  ['column', reader({ flags: 'tx', valued: 'sco' })],
  ['od', reader({ flags: 'abcdfilosxv', valued: 'AjNt' })],
  ['diff', reader(diff, diffStaysInside)],
  ['cmp', reader({ flags: 'bls', valued: 'in', long: ['print-bytes', 'verbose', 'quiet', 'silent'] })],
  // Excluded because they read a list of files: -c, --check.
  ['md5sum', checksum],
  ['sha1sum', checksum],
  ['sha256sum', checksum],
  [
    'stat',
    reader({
      flags: 'fLt',
      valued: 'c',
      long: ['dereference', 'file-system', 'terse'],
      longValued: ['format', 'printf'],
    }),
  ],
  ['du', reader(du)],
  // Excluded because they run a program, read a list of files or write: -z, -f, -C.
  ['file', reader({ flags: 'bhiL', long: ['brief', 'mime', 'mime-type', 'mime-encoding', 'dereference'] })],
  ['pwd', reader({ flags: 'LP' })],
  ['which', reader({ flags: 'as' })],
  [
    'cat',
    reader({
      flags: 'AbeEnstTuv',
      long: [
        'number-nonblank',
        'show-ends',
        'number',
        'squeeze-blank',
        'show-tabs',
        'show-nonprinting',
        'show-all',
      ],
    }),
  ],
  [
    'nl',
    reader({
      flags: 'p',
      valued: 'bdfhilnsvw',
      long: ['no-renumber'],
      longValued: [
        ...['body-numbering', 'section-delimiter', 'footer-numbering', 'header-numbering', 'line-increment'],
        ...['join-blank-lines', 'number-format', 'number-separator', 'starting-line-number', 'number-width'],
      ],
    }),
  ],
  [
    'head',
    reader({
      flags: 'qvz',
      valued: 'cn',
      counts: true,
      long: ['quiet', 'silent', 'verbose', 'zero-terminated'],
      longValued: ['bytes', 'lines'],
    }),
  ],
  [
    // Excluded because they reopen a name later: -F, --follow, --retry.
    'tail',
    reader({
      flags: 'fqvz',
      valued: 'cns',
      counts: true,
      long: ['quiet', 'silent', 'verbose', 'zero-terminated'],
      longValued: ['bytes', 'lines', 'sleep-interval'],
    }),
  ],
  // Excluded because it reads a list of files: --files0-from.
  ['wc', reader({ flags: 'cmlLw', long: ['bytes', 'chars', 'lines', 'max-line-length', 'words'] })],
  ['ls', reader(ls, lsStaysInside)],
  ['grep', reader(grep, grepStaysInside, afterPattern('e', 'f', 'regexp', 'file'))],
  ['rg', ripgrepRule],
  ['find', findRule],
  ['git', gitRule],
  ['sed', sed],
]);

/** Parses the words of a command by the known options of its program. */

type ProgramOptions = {
  /** letters without a value, and letters with one */
  readonly flags?: string;
  readonly valued?: string;
  /** letters whose value is a file that is read */
  readonly files?: string;
  /** long names with an optional value, and names that need one */
  readonly long?: readonly string[];
  readonly longValued?: readonly string[];
  readonly longFiles?: readonly string[];
  /** `-5` is a count */
  readonly counts?: boolean;
};

type ParsedWords = {
  /** letters and long names, as given */
  readonly names: ReadonlySet<string>;
  readonly values: readonly { readonly name: string; readonly value: string }[];
  readonly files: readonly string[];
  readonly operands: readonly string[];
};

/** Null if an option is not in the table, is abbreviated, or misses its value. */
function parseWords(words: readonly string[], table: ProgramOptions): ParsedWords | null {
  const names = new Set<string>();
  const values: { name: string; value: string }[] = [];
  const files: string[] = [];
  const operands: string[] = [];
  const todo = [...words];
  const take = (name: string, value: string | undefined, isFile: boolean): boolean => {
    if (value === undefined) return false;
    names.add(name);
    if (isFile) files.push(value);
    else values.push({ name, value });
    return true;
  };
  for (let word = todo.shift(); word !== undefined; word = todo.shift()) {
    if (word === '--') {
      operands.push(...todo);
      break;
    }
    if (word === '-' || !word.startsWith('-')) {
      operands.push(word);
    } else if (word.startsWith('--')) {
      const equals = word.indexOf('=');
      const name = word.slice(2, equals < 0 ? undefined : equals);
      const given = equals < 0 ? undefined : word.slice(equals + 1);
      const isFile = table.longFiles?.includes(name) ?? false;
      if (isFile || table.longValued?.includes(name)) {
        if (!take(name, given ?? todo.shift(), isFile)) return null;
      } else if (!table.long?.includes(name)) return null;
      else if (given === undefined) names.add(name);
      else take(name, given, false);
    } else if (!(table.counts && /^-\d+$/.test(word))) {
      for (let at = 1; at < word.length; at++) {
        const letter = word.charAt(at);
        const isFile = table.files?.includes(letter) ?? false;
        if (isFile || table.valued?.includes(letter)) {
          const rest = word.slice(at + 1);
          if (!take(letter, rest === '' ? todo.shift() : rest, isFile)) return null;
          break;
        }
        if (!table.flags?.includes(letter)) return null;
        names.add(letter);
      }
    }
  }
  return { names, values, files, operands };
}
