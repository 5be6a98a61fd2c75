/** Size limits of tool results. */

/** Maximum text of one result, in characters. */
export const RESULT_LIMIT = 100_000;

/** The text, or its beginning with a marker of the cut. Never splits a surrogate pair. */
export function cutText(text: string, limit = RESULT_LIMIT): string {
  if (text.length <= limit) return text;
  const end = isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
  return `${text.slice(0, end)}\n[… ${text.length - end} characters left out …]`;
}

export const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
