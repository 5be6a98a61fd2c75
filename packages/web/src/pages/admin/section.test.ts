import { expect, test } from 'bun:test';
import { isTouched, mergedEach } from './section.tsx';

type Fields = { readonly name: string; readonly tools: readonly string[]; readonly model: string | null };
const base: Fields = { name: 'Pirate', tools: ['read_file'], model: null };

test('changed fields keep their input, the others follow what is stored', () => {
  const stored: Fields = { name: 'Captain', tools: ['run'], model: 'tiny-1' };
  expect(mergedEach({ base, changed: { tools: ['write_file'] } }, stored)).toEqual({
    name: 'Captain',
    tools: ['write_file'],
    model: 'tiny-1',
  });
  expect(mergedEach({ base: stored, changed: { model: null } }, stored).model).toBeNull();
});

test('a field that has its old value again follows, too', () => {
  const entered = { base, changed: { name: 'Pirate', tools: ['read_file'] } };
  expect(isTouched(entered)).toBe(false);
  expect(mergedEach(entered, { ...base, name: 'Captain' }).name).toBe('Captain');
  expect(isTouched({ base, changed: { name: '' } })).toBe(true);
});
