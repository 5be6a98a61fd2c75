/** Reads JSON of unknown shape. */
import type { Json } from '@parlance/protocol';

type Loose = Json | undefined;

/** The value at a path, or undefined. */
export function at(value: Loose, ...path: readonly (string | number)[]): Loose {
  let here: Loose = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = (here as Record<string | number, Loose>)[key];
  }
  return here ?? undefined;
}

export const text = (value: Loose): string => (typeof value === 'string' ? value : '');
export const list = (value: Loose): Json[] => (Array.isArray(value) ? value : []);
