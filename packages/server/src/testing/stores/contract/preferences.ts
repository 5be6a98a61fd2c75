import { expect, test } from 'bun:test';
import { PrincipalId } from '@parlance/protocol';
import { type Implementation, withStore } from './store-location.ts';

export function preferencesContract(implementation: Implementation): void {
  const ada = PrincipalId.parse('ada');
  const bob = PrincipalId.parse('bob');

  test('stored preferences are returned to their owner only', () =>
    withStore(implementation, async ({ preferences }) => {
      expect(await preferences.get(ada)).toBeNull();
      const value = { theme: 'dark', more: [1, null, { text: 'a\0b \ud83d 你好' }] };
      await preferences.put(ada, value);
      expect(await preferences.get(ada)).toEqual(value);
      expect(await preferences.get(bob)).toBeNull();
    }));

  test('put replaces all previous preferences', () =>
    withStore(implementation, async ({ preferences }) => {
      await preferences.put(ada, { theme: 'dark', other: true });
      await preferences.put(ada, { theme: 'light' });
      expect(await preferences.get(ada)).toEqual({ theme: 'light' });
    }));

  test('changing a returned value does not change the stored one', () =>
    withStore(implementation, async ({ preferences }) => {
      const given = { list: ['one'] };
      await preferences.put(ada, given);
      given.list.push('two');
      const read = await preferences.get(ada);
      if (read) read.list = [];
      expect(await preferences.get(ada)).toEqual({ list: ['one'] });
    }));
}
