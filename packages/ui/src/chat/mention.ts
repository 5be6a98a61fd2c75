/** Files that a message names, in the console and in the terminal: `@src/main.ts`, or `@"with a space.md"`. */

export type Mention = {
  /** where the `@` is */
  readonly from: number;
  /** what is typed after it */
  readonly typed: string;
};

/** The mention that is being typed before the cursor, if there is one. */
export function mentionAt(text: string, cursor: number): Mention | null {
  const [, quoted, plain] = /(?:^|[\s([{,:])@(?:"([^"\n]*)|([^\s"@]*))$/.exec(text.slice(0, cursor)) ?? [];
  const typed = quoted ?? plain;
  if (typed === undefined) return null;
  return { from: cursor - typed.length - (quoted === undefined ? 1 : 2), typed };
}

/** How a message names the file. */
export const mentionOf = (path: string): string => (/\s/.test(path) ? `@"${path}"` : `@${path}`);

/** The text with the path in place of what was typed. After a folder, its files can be named. */
export function completed(
  text: string,
  { from, typed }: Mention,
  path: string,
): { readonly text: string; readonly cursor: number } {
  const isQuoted = text[from + 1] === '"';
  const rest = text.slice(from + 1 + typed.length + (isQuoted ? 1 : 0)).replace(isQuoted ? /^"/ : '', '');
  const isFolder = path.endsWith('/');
  const named = mentionOf(path);
  // Without the closing quote, so that it goes on.
  const shown = isFolder ? named.replace(/"$/, '') : `${named}${/^\s/.test(rest) ? '' : ' '}`;
  return { text: text.slice(0, from) + shown + rest, cursor: from + shown.length };
}

/** A path as a choice: its name, and the folder that it is in. */
export function namedPath(path: string): { readonly label: string; readonly about: string } {
  const at = path.replace(/\/$/, '').lastIndexOf('/') + 1;
  return { label: path.slice(at), about: path.slice(0, at) };
}
