import { expect, test } from 'bun:test';
import { titleIn } from './titles.ts';

test('a title is one short line without decoration', () => {
  expect(titleIn('"Trip to Rome."')).toBe('Trip to Rome');
  expect(titleIn('Title: **Trip to   Rome**\nBecause …')).toBe('Trip to Rome');
  expect(titleIn('# Reise nach Rom')).toBe('Reise nach Rom');
  expect(titleIn('  \n')).toBe('');
  expect(titleIn('x'.repeat(500)).length).toBe(80);
});
