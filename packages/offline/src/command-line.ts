/** Splits a command line into the arguments of a process. */

/** Shell syntax: pipes, redirection, lists, substitution, patterns, variables. */
const NEEDS_SHELL = /[|<>;&*$\n]|(?:^|\s)~|^\w+=\S*\s/;

export function commandOf(written: string): string[] {
  const text = unwrapped(written);
  if (NEEDS_SHELL.test(withoutSingleQuoted(text)) || text.includes('`')) return ['bash', '-lc', text];
  return splitWords(text) ?? text.split(/\s+/);
}

export const isScript = (command: readonly string[]): boolean =>
  /^(?:.*\/)?(?:ba|z|da)?sh$/.test(command[0] ?? '') && /^-\w*c\w*$/.test(command[1] ?? '');

/** As it would be typed. */
export function typed(command: readonly string[]): string {
  if (isScript(command)) return command[2] ?? '';
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** Removes quotes around the whole command. */
function unwrapped(written: string): string {
  const text = written.trim();
  const ticks = /^(`+)([^`]+)\1$/.exec(text);
  if (ticks?.[2]) return ticks[2].trim();
  const quotes = /^(["'])([^"']*\s[^"']*)\1$/.exec(text);
  return quotes?.[2]?.trim() ?? text;
}

const withoutSingleQuoted = (text: string): string => text.replace(/(?<=^|\s)'[^']*'/g, '');

/** Null if a quote is not closed. */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (character === '\\' && quote !== "'" && index + 1 < text.length) {
      word = (word ?? '') + text.charAt(++index);
    } else if (quote !== '') {
      if (character === quote) quote = '';
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + character;
  }
  if (quote !== '') return null;
  if (word !== null) words.push(word);
  return words;
}
