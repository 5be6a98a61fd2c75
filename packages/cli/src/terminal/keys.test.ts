import { expect, test } from 'bun:test';
import { KeyReader } from './keys.ts';

const brief = (key: ReturnType<KeyReader['read']>[number]): string =>
  key.kind === 'key' ? `<${key.name}>` : `${key.kind}:${key.text}`;

/** For any split of the bytes. */
function read(text: string): string[] {
  const whole = new KeyReader().read(text).map(brief);
  const reader = new KeyReader();
  const pieces = [...text].flatMap((character) => reader.read(character)).map(brief);
  expect(pieces.filter((key) => !key.startsWith('text:'))).toEqual(
    whole.filter((key) => !key.startsWith('text:')),
  );
  return whole;
}

test.each([
  ['hello 安 👩‍👩‍👧', ['text:hello 安 👩‍👩‍👧']],
  ['\r', ['<enter>']],
  ['\n', ['<ctrl-j>']],
  ['\x1b\r', ['<alt-enter>']],
  ['\x1b[13;2u', ['<shift-enter>']],
  ['\x1b[27;5;13~', ['<ctrl-enter>']],
  ['\x1b[A\x1b[B\x1bOC\x1b[D', ['<up>', '<down>', '<right>', '<left>']],
  ['\x1b[1;5C\x1b[1;3D', ['<ctrl-right>', '<alt-left>']],
  ['\x1b[3~\x1b[H\x1b[4~', ['<delete>', '<home>', '<end>']],
  ['\x7f\x08\x1b\x7f', ['<backspace>', '<backspace>', '<alt-backspace>']],
  ['\x03\x04\x0c', ['<ctrl-c>', '<ctrl-d>', '<ctrl-l>']],
  ['\t\x1b[Z', ['<tab>', '<shift-tab>']],
  ['a\x1b]11;rgb:ffff/ffff/ffff\x1b\\b', ['text:a', 'answer:11;rgb:ffff/ffff/ffff', 'text:b']],
  ['\x1b]11;rgb:00/00/00\x07', ['answer:11;rgb:00/00/00']],
  ['a\x1b[99;5ub', ['text:a', '<ctrl-c>', 'text:b']],
  ['\x1b[200~one\r\ntwo\x1b[31m\x1b[201~x', ['paste:one\ntwo\x1b[31m', 'text:x']],
  ['\x1b[?1;2cq', ['text:?1;2cq']],
])('%j is %p', (text, keys) => {
  expect(read(text)).toEqual(keys);
});

test('a lone escape is a key when nothing follows', () => {
  const reader = new KeyReader();
  expect(reader.read('\x1b')).toEqual([]);
  expect(reader.isWaiting).toBeTrue();
  expect(reader.flush().map(brief)).toEqual(['<escape>']);
  expect(reader.isWaiting).toBeFalse();
  expect(reader.read('\x1b\x1b').map(brief)).toEqual(['<escape>']);
});

test('pasted text is bounded and not interpreted as keys', () => {
  const reader = new KeyReader();
  const keys = reader.read(`\x1b[200~\x03\r${'x'.repeat(5 * 1024 * 1024)}\x1b[201~`);
  expect(keys).toHaveLength(1);
  const [pasted] = keys;
  expect(pasted?.kind).toBe('paste');
  expect(pasted?.kind === 'paste' && pasted.text.length).toBeLessThanOrEqual(4 * 1024 * 1024);
});
