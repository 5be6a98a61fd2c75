import { expect, test } from 'bun:test';
import type { CallView } from '@parlance/sdk';
import { callSummary } from './call-card.tsx';

const summary = (input: CallView['input']) => callSummary({ input, approval: null });

test('a command, a path or a query says what a call is about', () => {
  expect(summary({ command: ['ls', 'a b'], workdir: 'src' })).toBe("ls 'a b'");
  expect(summary({ limit: '5', path: 'src/main.ts' })).toBe('src/main.ts');
  expect(summary({ query: 'first\nsecond' })).toBe('first');
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
  expect(summary({ patch })).toBe('a.ts, src/b c.ts');
});

test('other tools are described by their first text', () => {
  expect(summary({ count: 3, city: 'Lisbon', unit: 'celsius' })).toBe('Lisbon');
  expect(summary({ count: 3 })).toBe('');
  expect(summary({ steps: [{ step: 'Read', status: 'pending' }] })).toBe('1 step');
});
