/** JSON and addresses from outside, read without exceptions. Without zod, so that browsers load it. */

/** Undefined if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Null if the text is not a JSON object. */
export function parsedObject(text: string): Record<string, unknown> | null {
  const value = parsedJson(text);
  return isObject(value) ? value : null;
}

/** Null if the percent-encoding is invalid. */
export function decodedUri(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Maximum nesting of a message. A page tree takes two levels per element. Deeper JSON is slow to parse and to
 * collect, and overflows the stack of recursive code, including schemas.
 */
export const MAX_LEVELS = 200;

/** Maximum number of keys in all objects of a message: each new name costs a parser about a microsecond. */
export const MAX_KEYS = 250_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Whether JSON text is nested deeper than that, without parsing it: one pass, no allocation. Brackets in strings do not
 * count. Text that is not JSON may get either answer, but a parser never meets more levels than were allowed.
 *
 * @example jsonNestsDeeper('[[1]]', 1) // true
 */
export const jsonNestsDeeper = (text: string, levels = MAX_LEVELS): boolean =>
  beyond(text, levels, Number.POSITIVE_INFINITY) === 'levels';

/**
 * Why JSON text from a peer is not parsed, or null. Like `jsonNestsDeeper`, and counts keys in the same pass.
 * @example jsonRefusal('['.repeat(1_000)) // 'is nested too deeply'
 */
export function jsonRefusal(text: string): 'is nested too deeply' | 'has too many keys' | null {
  const limit = beyond(text, MAX_LEVELS, MAX_KEYS);
  if (limit === null) return null;
  return limit === 'levels' ? 'is nested too deeply' : 'has too many keys';
}

function beyond(text: string, levels: number, max: number): 'levels' | 'keys' | null {
  if (text.length <= levels) return null;
  let depth = 0;
  let keys = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > levels) return 'levels';
    } else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === COLON && ++keys > max) return 'keys';
  }
  return null;
}

export const nestsDeeper = (value: unknown, levels = MAX_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1)));
