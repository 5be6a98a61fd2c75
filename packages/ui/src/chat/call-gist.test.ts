import { expect, test } from 'bun:test';
import type { CallView } from '@parlance/sdk';
import { callGist } from './call-gist.ts';

const gist = (input: CallView['input']) => callGist({ input, approval: null });

test('a command, a path or a query says what a call is about', () => {
  expect(gist({ command: ['ls', 'a b'], workdir: 'src' })).toBe("ls 'a b'");
  expect(gist({ limit: '5', path: 'src/main.ts' })).toBe('src/main.ts');
  expect(gist({ query: 'first\nsecond' })).toBe('first');
});

test('a patch names its files, each once', () => {
  const patch = [
    '*** Begin Patch',
    '*** Add File: a.ts',
    '+1',
    '*** Update File: src/b c.ts',
    '@@',
    '-1',
    '+2',
    '*** Delete File: a.ts',
    '*** End Patch',
  ].join('\n');
  expect(gist({ patch })).toBe('a.ts, src/b c.ts');
});

test('other tools are described by their first text', () => {
  expect(gist({ count: 3, city: 'Lisbon', unit: 'celsius' })).toBe('Lisbon');
  expect(gist({ count: 3 })).toBe('');
  expect(gist({ steps: [{ step: 'Read', status: 'pending' }] })).toBe('1 step');
});
