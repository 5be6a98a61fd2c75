import { expect, test } from 'bun:test';
import { BYTE_LIMIT, CappedOutput, LINE_LIMIT } from './capped-output.ts';

const encode = (text: string) => new TextEncoder().encode(text);

function cap(text: string, size = 1_000): string {
  const output = new CappedOutput();
  const bytes = encode(text);
  for (let at = 0; at < bytes.length; at += size) output.push(bytes.subarray(at, at + size));
  return output.text();
}

/** What the marker reports as left out. */
function leftOut(text: string): { bytes: number; lines: number } {
  const found = /\[… (\d+) bytes \(about (\d+) lines\) left out …\]\n/.exec(text);
  return { bytes: Number(found?.[1]), lines: Number(found?.[2]) };
}

test('short output is returned whole', () => {
  expect(cap('')).toBe('');
  expect(cap('one\ntwo')).toBe('one\ntwo');
  const full = 'x'.repeat(BYTE_LIMIT);
  expect(cap(full)).toBe(full);
  const lines = 'x\n'.repeat(LINE_LIMIT);
  expect(cap(lines)).toBe(lines);
});

test('one byte too many cuts the middle and reports the missing amount', () => {
  const text = cap(`head${'x'.repeat(BYTE_LIMIT - 7)}tail`);
  expect(text.startsWith('head')).toBe(true);
  expect(text.endsWith('tail')).toBe(true);
  expect(leftOut(text).bytes).toBe(1);
});

test('one line too many cuts the middle and reports the missing amount', () => {
  const all = Array.from({ length: LINE_LIMIT + 1 }, (_, index) => `${index}\n`);
  const text = cap(all.join(''));
  expect(leftOut(text)).toEqual({ bytes: 4, lines: 1 });
  expect(text).toContain('127\n[…');
  expect(text).toEndWith('…]\n129\n'.concat(all.slice(130).join('')));
});

test('retained and missing parts add up, however the output is chunked', () => {
  const whole = Array.from({ length: 5_000 }, (_, index) => `line ${index} äöü 😀\n`).join('');
  const expected = cap(whole, whole.length * 4);
  for (const size of [1, 7, 4_096, 5_120, 5_121, 10_240, 70_000]) expect(cap(whole, size)).toBe(expected);
  const [head = '', tail = ''] = expected.split(/\[….*…\]\n/);
  expect(encode(head.replace(/\n$/, '')).length + encode(tail).length + leftOut(expected).bytes).toBeWithin(
    encode(whole).length - 1,
    encode(whole).length + 1,
  );
});

test('no character is split at the cut', () => {
  for (const character of ['é', '€', '😀']) {
    for (let shift = 0; shift < 4; shift++) {
      const text = cap('x'.repeat(shift) + character.repeat(20_000));
      expect(text).not.toContain('\ufffd');
    }
  }
});

test('invalid UTF-8 does no harm', () => {
  const output = new CappedOutput();
  output.push(new Uint8Array(50_000).fill(0x80));
  expect(leftOut(output.text()).bytes).toBeGreaterThan(39_000);
});
