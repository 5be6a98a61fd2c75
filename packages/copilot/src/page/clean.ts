/** Cleans text of a page: removes control and invisible characters, collapses blanks. */

/** Invisible characters. The two joiners stay: scripts and emoji need them. */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
  /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const ASCII = /^[\t\n\r -~]*$/;

export const visible = (text: string): string =>
  ASCII.test(text) ? text : text.toWellFormed().replace(INVISIBLE, '');

/** Fast path: most text is plain. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** On one line, at most `limit` characters, cut between characters. */
export function line(text: string, limit: number): string {
  if (text === '' || (text.length <= limit && PLAIN.test(text))) return text;
  const joined = visible(text.slice(0, limit * 10 + 200))
    .replace(/\s+/g, ' ')
    .trim();
  if (joined.length <= limit) return joined;
  return `${joined
    .slice(0, limit - 1)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()}…`;
}
