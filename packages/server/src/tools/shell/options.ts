/** Option syntax of programs: `--name`, `--name=value`, `--name value`, `-abc`, `-nvalue`, `-n value`. */

export type OptionTable = {
  /** options without a value */
  readonly flags: ReadonlySet<string>;
  /** options with a value, attached or in the next word */
  readonly values: ReadonlySet<string>;
};

/** Names separated by spaces, dashes included. */
export const optionTable = (flags: string, values = ''): OptionTable => ({
  flags: namesIn(flags),
  values: namesIn(values),
});

const namesIn = (names: string): ReadonlySet<string> => new Set(names.split(' ').filter(Boolean));

export const isOption = (word: string): boolean => word.startsWith('-') && word !== '-';

/** Number of words that the option takes, including its value; 0 if it is not in the table. Abbreviations do not match. */
export function optionLength(word: string, { flags, values }: OptionTable): 0 | 1 | 2 {
  if (flags.has(word)) return 1;
  if (values.has(word)) return 2;
  const equals = word.indexOf('=');
  if (equals > 0 && values.has(word.slice(0, equals))) return 1;
  if (word.startsWith('--')) return 0;
  for (let at = 1; at < word.length; at++) {
    const letter = `-${word.charAt(at)}`;
    if (values.has(letter)) return at === word.length - 1 ? 2 : 1;
    if (!flags.has(letter)) return 0;
  }
  return 1;
}
