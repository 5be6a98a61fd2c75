import { expect, test } from 'bun:test';
import { usedText } from './session-limit.tsx';

test('the amount of which more is used is shown', () => {
  const spent = { tokens: 900, cost: 500_000 };
  expect(usedText(null, spent)).toBeNull();
  expect(usedText({ dollars: 1 }, spent)).toBe('$0.50 of $1.00');
  expect(usedText({ dollars: 1, tokens: 1_000 }, spent)).toBe('900 tokens of 1,000 tokens');
  expect(usedText({ dollars: 0, tokens: 1_000 }, spent)).toBe('$0.50 of $0.00');
});
