/**
 * Options of programs: one notation to declare them, one reading of words. Entries are separated by white space:
 *
 *     -[abc]      letters, which can be combined
 *     --all       this word; there are no abbreviations
 *     -[n]=       letters with a value: the rest of the word, or the next word
 *     --key=      a name with a value: after `=` if the name has two dashes, or the next word
 *     --color[=]  a name with an optional value, after `=`
 *     --list=FILE instead of `=`: the value is a file that is read
 *     -U\d+       with a backslash or parenthesis: a regular expression for the whole word
 */

export type OptionTable = {
  readonly letters: ReadonlyMap<string, Value>;
  readonly names: ReadonlyMap<string, Value>;
  readonly pattern: RegExp | null;
};

type Value = 'none' | 'optional' | 'needed' | 'file';
const SUFFIXES: Readonly<Record<string, Value>> = { '[=]': 'optional', '=': 'needed', '=FILE': 'file' };

/** Words separated by white space. */
export const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).filter(Boolean));

export function optionTable(notation: string): OptionTable {
  const letters = new Map<string, Value>();
  const names = new Map<string, Value>();
  const patterns: string[] = [];
  for (const entry of wordSet(notation)) {
    if (/[\\(]/.test(entry)) {
      patterns.push(entry);
      continue;
    }
    const [, name = '', suffix = ''] = /^(.*?)(\[=\]|=FILE|=)?$/.exec(entry) ?? [];
    const value = SUFFIXES[suffix] ?? 'none';
    const combined = /^-\[(.+)\]$/.exec(name)?.[1];
    if (combined === undefined) names.set(name, value);
    else for (const letter of combined) letters.set(letter, value);
  }
  return { letters, names, pattern: patterns.length > 0 ? new RegExp(`^(?:${patterns.join('|')})$`) : null };
}

export const isOption = (word: string): boolean => word.startsWith('-') && word !== '-';

type OptionMatch = {
  /** letters and names, with their dashes */
  readonly names: readonly string[];
  /** of the last name */
  readonly value?: string;
  readonly isFile?: boolean;
  readonly takesNext: boolean;
};

/** Null if the option is not in the table. */
function readOption(word: string, { letters, names, pattern }: OptionTable): OptionMatch | null {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const name = equals < 0 ? word : word.slice(0, equals);
  const value = names.get(name);
  if (value !== undefined) {
    const isFile = value === 'file';
    if (equals < 0) return { names: [name], isFile, takesNext: isFile || value === 'needed' };
    if (value !== 'none') return { names: [name], value: word.slice(equals + 1), isFile, takesNext: false };
  }
  if (pattern?.test(word)) return { names: [], takesNext: false };
  if (word.startsWith('--')) return null;
  const given: string[] = [];
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at);
    const value = letters.get(letter);
    if (value === undefined) return null;
    given.push(`-${letter}`);
    if (value === 'none') continue;
    const rest = word.slice(at + 1);
    const isFile = value === 'file';
    return rest === ''
      ? { names: given, isFile, takesNext: true }
      : { names: given, value: rest, isFile, takesNext: false };
  }
  return { names: given, takesNext: false };
}

/** Number of words that the option takes, including its value; 0 if it is not in the table. */
export function optionLength(word: string, table: OptionTable): 0 | 1 | 2 {
  const option = readOption(word, table);
  return option === null ? 0 : option.takesNext ? 2 : 1;
}

export type ParsedWords = {
  /** letters and names, with their dashes */
  readonly names: ReadonlySet<string>;
  readonly values: readonly string[];
  /** values that are files */
  readonly files: readonly string[];
  readonly operands: readonly string[];
};

/** Null if an option is not in the table, or misses its value. */
export function parseWords(words: readonly string[], table: OptionTable): ParsedWords | null {
  const names = new Set<string>();
  const values: string[] = [];
  const files: string[] = [];
  const operands: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (!isOption(word)) {
      operands.push(word);
      continue;
    }
    const option = readOption(word, table);
    if (!option) return null;
    for (const name of option.names) names.add(name);
    const value = option.takesNext ? words[++at] : option.value;
    if (value !== undefined) (option.isFile ? files : values).push(value);
    else if (option.takesNext) return null;
  }
  return { names, values, files, operands };
}
