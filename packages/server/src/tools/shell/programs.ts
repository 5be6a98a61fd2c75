/** Read-only programs, with the options under which they only read, and what each use would read. */
import { basename } from 'node:path';
import { contains } from '../paths.ts';
import { findRule } from './find.ts';
import { gitRule } from './git.ts';
import { linksStayInside } from './links.ts';
import { type ParsedWords, type ProgramOptions, parseWords } from './program-options.ts';
import { allOpen, type CommandScope, foldersOf, mayMeetSecrets, noneOutside, type Rule } from './rule.ts';

const anything: Rule = async (words) => words;

/** The operands that name files, and those that do not. */
type Operands = { readonly files: readonly string[]; readonly others: readonly string[] };

function filesAreOpen(read: ParsedWords, { files, others }: Operands, place: CommandScope): boolean {
  const values = read.values.map(({ value }) => value);
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
  if (folders.length > 0 && mayMeetSecrets(scope)) return false;
  if (folders.some((folder) => scope.hide.some((hidden) => contains(folder, hidden)))) return false;
  return !follows || linksStayInside(folders, scope);
}

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

export const KNOWN_SAFE: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['true', anything],
  ['echo', anything],
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
