import { expect, test } from 'bun:test';
import { type Implementation, withStore } from './store-location.ts';

export function settingsContract(implementation: Implementation): void {
  test('a document is read as last written, with its version', () =>
    withStore(implementation, async ({ settings }) => {
      expect(await settings.read('model')).toBeNull();
      const value = { model: 'small', list: [1, null, { text: 'a\0b \ud83d 你好' }] };
      expect(await settings.write('model', value, 0)).toBe(true);
      expect(await settings.read('model')).toEqual({ value, version: 1 });
      expect(await settings.write('model', { model: 'large' }, 1)).toBe(true);
      expect(await settings.read('model')).toEqual({ value: { model: 'large' }, version: 2 });
      expect(await settings.read('prices')).toBeNull();
    }));

  test('of two writes that expect the same version, one succeeds', () =>
    withStore(implementation, async ({ settings }) => {
      const write = (by: string, expected: number) => settings.write('model', { by }, expected);
      expect((await Promise.all([write('one', 0), write('two', 0)])).sort()).toEqual([false, true]);
      expect((await Promise.all([write('three', 1), write('four', 1)])).sort()).toEqual([false, true]);
      expect(await write('late', 1)).toBe(false);
      expect((await settings.read('model'))?.version).toBe(2);
    }));

  test('a write notifies followers; a refused one does not', () =>
    withStore(implementation, async ({ settings, revocations }) => {
      let notified = 0;
      const end = revocations.follow(() => notified++);
      await settings.write('model', {}, 0);
      expect(notified).toBe(1);
      await settings.write('model', {}, 0);
      expect(notified).toBe(1);
      end();
    }));
}
