/**
 * Makes text safe to review: characters that are invisible, look like a blank, or reorder text are escaped.
 */
import type { Json } from './json.ts';

/**
 * Control and format characters (including bidirectional ones), lone surrogates, private use, unusual blanks, and
 * characters that Unicode ignores for display.
 */
const HIDDEN =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

const written = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`;

/** Keeps line breaks. */
export const visible = (text: string): string => text.replace(HIDDEN, written);

/** As a single line. */
export const visibleLine = (text: string): string =>
  visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** All texts of a value, names included. */
export function visibleJson(value: Json): Json {
  if (typeof value === 'string') return visible(value);
  if (Array.isArray(value)) return value.map(visibleJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [visible(name), visibleJson(inner)]),
  );
}
