/** Size limits of tool results. */

/** Maximum text of one result, in characters. */
export const RESULT_LIMIT = 100_000;

/**
 * The text, or its beginning with a marker of the cut after `gap`. Never splits a surrogate pair. `total` is the length of the
 * whole, if `text` is only its beginning.
 */
export function cutText(
  text: string,
  limit = RESULT_LIMIT,
  { total = text.length, gap = '\n' }: { readonly total?: number; readonly gap?: string } = {},
): string {
  if (total <= limit) return text;
  const end = isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
  return `${text.slice(0, end)}${gap}[… ${total - end} characters left out …]`;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
