/** Paths in a sentence. */

const NAMED = /^(?:readme|license|licence|makefile|dockerfile|changelog|contributing|todo|notes)$/i;

/** Null if it does not look like a path. Anything in quotes is a path. */
export function pathOf(written: string): string | null {
  const text = written.trim();
  const quotes = /^[`"'“](.+)[`"'”]$/.exec(text);
  if (quotes?.[1]) return quotes[1];
  if (/\s/.test(text) || /^https?:/i.test(text)) return null;
  const looksLikePath = /[./\\]/.test(text) || text.startsWith('~') || NAMED.test(text);
  return looksLikePath && /[\p{L}\p{N}_.]/u.test(text) ? text : null;
}

/** Prevents that it is read as an option. */
export const asArgument = (path: string): string => (path.startsWith('-') ? `./${path}` : path);

/** Removes quotes, a fence or a colon around content. */
export function contentOf(written: string): string {
  const text = written.trim();
  const fence = /^```[^\n]*\n([\s\S]*?)\n?```$/.exec(text);
  if (fence) return fence[1] ?? '';
  const first = text.charAt(0);
  const last = text.at(-1);
  const closing = first === '“' ? '”' : first;
  const wrapped = text.length > 1 && '`"\'“'.includes(first) && last === closing;
  return wrapped ? text.slice(1, -1) : text;
}
