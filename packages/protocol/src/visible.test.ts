import { expect, test } from 'bun:test';
import { visible, visibleJson, visibleLine } from './visible.ts';

test.each([
  ['turned round', 'cat \u202egnp.exe', 'cat \\u{202e}gnp.exe'],
  ['isolated', 'a\u2066b\u2069', 'a\\u{2066}b\\u{2069}'],
  ['without width', 'r\u200bm\ufeff', 'r\\u{200b}m\\u{feff}'],
  ['blank that is none', 'rm\u00a0-rf\u3000/\u2003x', 'rm\\u{00a0}-rf\\u{3000}/\\u{2003}x'],
  ['a letter that is not seen', 'a\u3164b\u115fc\u2800', 'a\\u{3164}b\\u{115f}c\\u{2800}'],
  ['a terminal told what to do', 'ok\u001b[2K\rrm', 'ok\\u{001b}[2K\\u{000d}rm'],
  ['ended early', 'a\u0000b\u007f\u0085', 'a\\u{0000}b\\u{007f}\\u{0085}'],
  ['other ends of lines', 'a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
  ['half a character', 'a\ud800b', 'a\\u{d800}b'],
  ['tags', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ['chosen forms', 'a\ufe0fb\u{e0100}', 'a\\u{fe0f}b\\u{e0100}'],
  ['private', 'a\ue000b', 'a\\u{e000}b'],
])('%s is escaped', (_, text, shown) => {
  expect(visible(text)).toBe(shown);
});

test('visible characters are unchanged', () => {
  const text = 'grüße, 世界, привет, שלום, 😀 – “x”\n\tif (a && b) { c }';
  expect(visible(text)).toBe(text);
  expect(visibleLine('a\n\tb')).toBe('a\\n\\tb');
});

test('keys of objects are escaped as well', () => {
  expect(visibleJson({ 'a\u202e': ['\u200b', 1, null, true, { b: '\u0000' }] })).toEqual({
    'a\\u{202e}': ['\\u{200b}', 1, null, true, { b: '\\u{0000}' }],
  });
});
