/** Time series for charts, with gaps where nothing is known. */
import type { Figures } from './figures.ts';

export type Point = { readonly at: number; readonly value: number | null };

/** Samples further apart than this are not connected. */
export const GAP_MS = 10_000;

export const gauge = (history: readonly Figures[], read: (figures: Figures) => number | null): Point[] =>
  withGaps(history.map((figures) => ({ at: figures.at, value: read(figures) })));

/** Rate per second between two samples. A counter that fell belongs to a new process. */
export function rate(history: readonly Figures[], read: (figures: Figures) => number): Point[] {
  return withGaps(
    history.slice(1).map((figures, index): Point => {
      const before = history[index];
      const seconds = before ? (figures.at - before.at) / 1_000 : 0;
      const grown = before ? read(figures) - read(before) : -1;
      const known = seconds > 0 && seconds * 1_000 <= GAP_MS && grown >= 0;
      return { at: figures.at, value: known ? grown / seconds : null };
    }),
  );
}

function withGaps(points: readonly Point[]): Point[] {
  return points.flatMap((point, index) => {
    const before = points[index - 1];
    return before && point.at - before.at > GAP_MS ? [{ at: before.at + 1, value: null }, point] : [point];
  });
}

/** The smallest number of the form 1, 2 or 5 times a power of ten that is not below the value. */
export function roof(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((factor) => value <= factor * power * (1 + 1e-9)) ?? 10;
  return step * power;
}

export type Frame = {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
  readonly most: number;
};

/** The `d` of a path. A single point is a short stroke, so that it is visible. */
export function pathOf(points: readonly Point[], { width, height, from, to, most }: Frame): string {
  const spot = (at: number, value: number): string => {
    const x = ((at - from) / (to - from)) * width;
    const y = height - (Math.min(value, most) / most) * height;
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  };
  let path = '';
  points.forEach(({ at, value }, index) => {
    if (value === null || at < from) return;
    const before = points[index - 1];
    const joined = before !== undefined && before.value !== null && before.at >= from;
    const alone = !joined && (points[index + 1]?.value ?? null) === null;
    path += `${joined ? 'L' : 'M'}${spot(at, value)}${alone ? 'h0.1' : ''}`;
  });
  return path;
}

export const last = (points: readonly Point[]): number | null => points.at(-1)?.value ?? null;

export const highest = (points: readonly Point[]): number =>
  points.reduce((most, { value }) => Math.max(most, value ?? 0), 0);
