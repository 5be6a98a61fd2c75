/** Parses the words of a command by the known options of its program. */

export type ProgramOptions = {
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

export type ParsedWords = {
  /** letters and long names, as given */
  readonly names: ReadonlySet<string>;
  readonly values: readonly { readonly name: string; readonly value: string }[];
  readonly files: readonly string[];
  readonly operands: readonly string[];
};

/** Null if an option is not in the table, is abbreviated, or misses its value. */
export function parseWords(words: readonly string[], table: ProgramOptions): ParsedWords | null {
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
