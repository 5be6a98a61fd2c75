/**
 * Extracts doc comments of declarations and their fields from a source file, by `Owner` and `Owner.field`.
 */

const DECLARATION = /^(?:export const (\w+) =| {2}'([\w.]+)':)/;
const FIELD = /^ +(\w+):/;

export function commentsIn(source: string): Map<string, string> {
  const comments = new Map<string, string>();
  let owner = '';
  let comment: string | null = null;
  const keep = (name: string): void => {
    if (comment !== null) comments.set(name, comment);
    comment = null;
  };
  for (const [, text, code] of source.matchAll(/^ *\/\*\*([\s\S]*?)\*\/|^(.+)$/gm)) {
    if (text !== undefined) comment = plain(text);
    else if (code !== undefined && code.trim() !== '') {
      const [, constant, event] = DECLARATION.exec(code) ?? [];
      const field = FIELD.exec(code)?.[1];
      if (constant ?? event) {
        owner = constant ?? event ?? '';
        keep(owner);
      } else if (field) keep(`${owner}.${field}`);
      else comment = null;
    }
  }
  return comments;
}

/** On one line, without asterisks. */
const plain = (text: string): string =>
  text
    .replace(/^\s*\* ?/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();
