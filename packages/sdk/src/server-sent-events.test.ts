import { expect, test } from 'bun:test';
import { type Frame, frameReader } from './server-sent-events.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function inPieces(text: string, size: number): Frame[] {
  const reader = frameReader();
  const all = bytes(text);
  const frames: Frame[] = [];
  for (let from = 0; from < all.length; from += size)
    frames.push(...reader.read(all.slice(from, from + size)));
  return frames;
}

test('frames are the same wherever the bytes are cut, with any line end, inside characters too', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const lines = [
      'id: 7',
      'event: text.delta',
      'data: {"a":"ümläut 🙂"}',
      '',
      ': still here',
      '',
      'data:x',
      'data: y',
      '',
      '',
    ];
    const text = lines.join(end);
    for (let size = 1; size <= bytes(text).length; size++) {
      expect(inPieces(text, size)).toEqual([
        { event: 'text.delta', data: '{"a":"ümläut 🙂"}' },
        { event: 'message', data: 'x\ny' },
      ]);
    }
  }
});

test('a frame that is not complete is not told', () => {
  const reader = frameReader();
  expect(reader.read(bytes('data: half'))).toEqual([]);
  expect(reader.read(bytes(' and half\n'))).toEqual([]);
  expect(reader.read(bytes('\n'))).toEqual([{ event: 'message', data: 'half and half' }]);
});

test('comments, unknown fields, lines without a colon and events without data say nothing', () => {
  expect(inPieces(': hello\n\nretry: 5\n\nevent: lonely\n\nnonsense\n\n', 3)).toEqual([]);
  expect(inPieces('data\ndata:\ndata: x\n\n', 2)).toEqual([{ event: 'message', data: '\n\nx' }]);
});

test('a byte order mark is not part of the first field', () => {
  expect(inPieces('\ufeffdata: x\n\n', 1)).toEqual([{ event: 'message', data: 'x' }]);
});
