/** Ids in the frames of the server, which the next frame may have to name. */
import type { Dialect } from '@parlance/sdk';
import type { Known } from './fill.ts';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the same object if the frame adds nothing. */
export function learn(known: Known, { ids }: Pick<Dialect, 'ids'>, text: string): Known {
  const frame = parsed(text);
  if (!isObject(frame)) return known;
  const name = frame.type ?? frame.event;
  const found = ids
    .filter(({ message }) => message === null || message === name)
    .flatMap(({ id, at, match }) => {
      const value = part(valueAt(frame, at.split('.')), match);
      return value === undefined ? [] : [[id, value] as const];
    });
  return found.length === 0 ? known : { ...known, ...Object.fromEntries(found) };
}

function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  const inner = typeof value === 'string' ? parsed(value) : value;
  return isObject(inner) ? valueAt(inner[key], rest) : undefined;
}

function part(value: unknown, match: string | null): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return match === null ? value : new RegExp(match).exec(value)?.[0];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // not JSON
  }
}
