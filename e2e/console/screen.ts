/** Screens that the tests run on: a small phone, a tablet and a desktop, each light and dark. */
import { basename } from 'node:path';

export const SIZES = [
  { width: 320, height: 640 },
  { width: 768, height: 1_024 },
  { width: 1_440, height: 900 },
] as const;

export const THEMES = ['light', 'dark'] as const;

/** Also options of a browser context. */
export type Screen = {
  readonly viewport: (typeof SIZES)[number];
  readonly colorScheme: (typeof THEMES)[number];
};

/** By name, such as `320-dark`. */
export const SCREENS: ReadonlyMap<string, Screen> = new Map(
  SIZES.flatMap((viewport) =>
    THEMES.map((colorScheme) => [`${viewport.width}-${colorScheme}`, { viewport, colorScheme }]),
  ),
);

/**
 * The screen that `SCREEN` names. Otherwise each test file has one, chosen by a hash of its name: together they cover all.
 */
export function screenFor(file: string, chosen = process.env.SCREEN): Screen {
  const names = [...SCREENS.keys()];
  const name = chosen || names[Bun.hash.crc32(basename(file)) % names.length];
  const screen = SCREENS.get(name ?? '');
  if (!screen) throw new Error(`SCREEN is ${name}, which is not one of ${names.join(', ')}`);
  return screen;
}
