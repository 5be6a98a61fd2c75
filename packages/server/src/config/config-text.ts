/** The text of a config file: JSON with comments. */
import {
  applyEdits,
  findNodeAtLocation,
  modify,
  type ParseError,
  parseTree,
  stripComments,
} from 'jsonc-parser';

export type Position = { readonly line: number; readonly column: number };

/**
 * The value, or the position of the first unexpected character, or of the end if something is missing. Messages of parsers quote
 * the text, which may contain secrets.
 */
export function parseConfigText(text: string): { readonly value: unknown } | { readonly error: Position } {
  const errors: ParseError[] = [];
  parseTree(text, errors);
  const [error] = errors;
  if (error) return { error: positionOf(text, error.offset) };
  try {
    // Unlike `parse` of the package, it creates a property for the name `__proto__`.
    return { value: JSON.parse(stripComments(text, ' ')) };
  } catch {
    return { error: positionOf(text, 0) };
  }
}

/** The position of a value in a valid text, or of the innermost object or list on the way to it. */
export function positionOfValue(text: string, path: readonly PropertyKey[]): Position {
  const root = parseTree(text);
  for (let length = path.length; root && length > 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length) as (string | number)[]);
    // An entry of an object starts with its name.
    if (node) return positionOf(text, node.parent?.type === 'property' ? node.parent.offset : node.offset);
  }
  return positionOf(text, root?.offset ?? 0);
}

/** The text with one setting changed, or removed if the value is undefined. Comments and all other settings stay. */
export const withSetting = (text: string, name: string, value: unknown): string =>
  applyEdits(
    text,
    modify(text, [name], value, { formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' } }),
  );

function positionOf(text: string, at: number): Position {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
