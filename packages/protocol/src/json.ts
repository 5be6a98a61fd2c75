/** Plain JSON data. Use it where a value passes through us unread. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** As deep as a message may be nested: what is deeper overflows the stack of whoever walks it, schemas included. */
export const MOST_LEVELS = 500;

export const nestsDeeper = (value: unknown, levels = MOST_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1)));
