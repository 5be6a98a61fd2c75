/** Finds the end of parts of a shell script. */

/** Position of the unescaped mark; the end of the text if there is none. */
export function unescaped(text: string, from: number, mark: string): number {
  let at = from;
  while (at < text.length && text.charAt(at) !== mark) at += text.charAt(at) === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}

/** Position of the brace that closes the one opened before `from`; quoted marks do not count. */
export function closingAfter(text: string, from: number): number {
  let depth = 1;
  let at = from;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === "'") at = Math.max(at, text.indexOf("'", at + 1));
    else if (character === '"') at = unescaped(text, at + 1, '"');
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at;
    at++;
  }
  return text.length;
}

/** Length of the `((…))` at this position; 0 if it may be a nested subshell, or contain anything but arithmetic. */
export function arithmeticAt(script: string, from: number): number {
  const text = /^\(\([\w\s+*/%<>=!&|^~?:,;()#$-]*\)\)/.exec(script.slice(from, from + 1_000))?.[0] ?? '';
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '(') depth++;
    else if (character === ')') depth--;
    if (depth === 1 && at > 0 && character === ')' && text.charAt(at + 1) !== ')') return 0;
    if (depth === 0) {
      const length = at + 1;
      return /<<|\$\(/.test(text.slice(0, length)) ? 0 : length;
    }
  }
  return 0;
}
