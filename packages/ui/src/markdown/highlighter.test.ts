import { expect, test } from 'bun:test';
import { compileNextGrammar, syntaxTree } from './highlighter.ts';

test('grammars are compiled one at a time until none is left', () => {
  let count = 1;
  while (compileNextGrammar()) count++;
  expect(count).toBeGreaterThan(20);
  expect(compileNextGrammar()).toBe(false);
  expect(syntaxTree('const one = 1;', 'typescript')).toContainEqual({
    scope: 'keyword',
    children: ['const'],
  });
});
