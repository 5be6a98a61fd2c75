import { z } from 'zod';

/** Plain JSON data, for values that pass through unread. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

// `z.json()` takes seconds for each megabyte of small arrays, and overflows the stack on deep ones.
/** Any JSON value. */
export const JsonValue = z.unknown().refine((value) => isJson(value, MAX_DEPTH), {
  error: ({ input }) => (input === undefined ? 'is required' : 'is not JSON'),
}) as unknown as z.ZodType<Json, Json>;

/** Deeper than any accepted value, and safe for the stack. */
const MAX_DEPTH = 1_000;

/** `JSON.parse` also yields values that are not JSON: 1e999 becomes Infinity. */
function isJson(value: unknown, levels: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (const inner of value) if (!isJson(inner, levels - 1)) return false;
    return true;
  }
  for (const inner of Object.values(value)) if (!isJson(inner, levels - 1)) return false;
  return true;
}
