import { expect, test } from 'bun:test';
import { Glob } from 'bun';
import { SCREENS, screenFor } from './screen.ts';

const files = [...new Glob('*.test.ts').scanSync(import.meta.dir)];

test('the test files cover all screens', () => {
  const covered = new Set(files.map((file) => screenFor(file, '')));
  expect(covered.size).toBe(SCREENS.size);
  expect(SCREENS.size).toBe(6);
});

test('SCREEN chooses one for all files, and must be known', () => {
  expect(screenFor('any.test.ts', '768-dark')).toEqual({
    viewport: { width: 768, height: 1_024 },
    colorScheme: 'dark',
  });
  expect(() => screenFor('any.test.ts', '1280-dark')).toThrow('320-light, 320-dark');
});
