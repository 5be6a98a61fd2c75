import { expect, test } from 'bun:test';
import { animatedWebp } from './webp.ts';

/** A still file with a colour profile and an odd number of bytes of picture. */
const STILL = Buffer.concat([
  Buffer.from('RIFF\x1a\0\0\0WEBP'),
  Buffer.from('ICCP\x02\0\0\0ab'),
  Buffer.from('VP8L\x03\0\0\0xyz\0'),
]);

const place = { x: 4, y: 6, width: 300, height: 20, durationMs: 1_000, image: STILL };

test('frames have their place and duration, and the picture without its profile', () => {
  const file = Buffer.from(animatedWebp(640, 480, [place]));
  expect(file.toString('latin1', 0, 4)).toBe('RIFF');
  expect(file.readUInt32LE(4)).toBe(file.length - 8);
  expect(file.toString('latin1', 12, 16)).toBe('VP8X');
  expect([file.readUIntLE(24, 3) + 1, file.readUIntLE(27, 3) + 1]).toEqual([640, 480]);
  const frame = file.indexOf('ANMF');
  const field = (index: number) => file.readUIntLE(frame + 8 + 3 * index, 3);
  expect([field(0), field(1), field(2), field(3), field(4)]).toEqual([2, 3, 299, 19, 1_000]);
  expect(file.subarray(frame + 24).toString('latin1')).toBe('VP8L\x03\0\0\0xyz\0');
  expect(file.readUInt32LE(frame + 4)).toBe(16 + 12);
});

test('odd positions and other files are refused', () => {
  expect(() => animatedWebp(640, 480, [{ ...place, x: 3 }])).toThrow('even');
  expect(() => animatedWebp(640, 480, [{ ...place, image: Buffer.from('PNG') }])).toThrow('not WebP');
});
