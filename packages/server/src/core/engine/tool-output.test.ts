import { expect, test } from 'bun:test';
import { textPart } from '@parlance/protocol';
import { cappedData, cappedParts } from './tool-output.ts';

const HALF = 'x'.repeat(60_000);

test('all parts share one limit: what does not fit is replaced with a marker', () => {
  const parts = cappedParts([textPart(HALF), textPart(HALF), textPart(HALF)]);
  const texts = parts.map((part) => (part.type === 'text' ? part.text : ''));
  expect(texts[0]).toBe(HALF);
  expect(texts[1]).toContain('20000 characters left out');
  expect(texts[2]).toContain('60000 characters left out');
});

test('parts below the limit stay as they are', () => {
  const parts = [textPart('one'), textPart('two')];
  expect(cappedParts(parts)).toEqual(parts);
});

test('long strings in data are cut, and data without strings is dropped if it is too large', () => {
  const cut = cappedData({ output: HALF + HALF, exit_code: 1 });
  expect(cut?.exit_code).toBe(1);
  expect(cut?.output).toContain('characters left out');
  expect(cappedData({ rows: Array.from({ length: 60_000 }, () => 1) })).toBeUndefined();
  expect(cappedData(undefined)).toBeUndefined();
});
