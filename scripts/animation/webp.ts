/** Assembles an animated WebP from still images: writes only the container, the images stay as encoded. */

export type Frame = {
  /** a still WebP file */
  readonly image: Uint8Array;
  /** its position in the picture; both even */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
};

const ANIMATION = 0x02;
const NO_BLENDING = 0x02;

/** Later frames cover a part of the picture and leave the rest unchanged. */
export function animatedWebp(width: number, height: number, frames: readonly Frame[]): Uint8Array {
  const header = chunk('VP8X', [ANIMATION, 0, 0, 0, ...int24(width - 1), ...int24(height - 1)]);
  // the background colour, and an endless loop
  const animation = chunk('ANIM', [0, 0, 0, 0, 0, 0]);
  const body = Buffer.concat([Buffer.from('WEBP'), header, animation, ...frames.map(frameChunk)]);
  return Buffer.concat([Buffer.from('RIFF'), Buffer.from(int32(body.length)), body]);
}

function frameChunk({ image, x, y, width, height, durationMs }: Frame): Buffer {
  if (x % 2 || y % 2) throw new Error('frames must begin at even positions');
  const place = [x / 2, y / 2, width - 1, height - 1, durationMs].flatMap(int24);
  return chunk('ANMF', Buffer.concat([Buffer.from([...place, NO_BLENDING]), pictureOf(image)]));
}

/** The image chunks, without colour profiles and the like. */
function pictureOf(image: Uint8Array): Buffer {
  const file = Buffer.from(image);
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WEBP')
    throw new Error('a frame is not WebP');
  const found: Buffer[] = [];
  for (let at = 12; at < file.length; ) {
    const end = at + 8 + padded(file.readUInt32LE(at + 4));
    if (['VP8 ', 'VP8L', 'ALPH'].includes(file.toString('latin1', at, at + 4)))
      found.push(file.subarray(at, end));
    at = end;
  }
  return Buffer.concat(found);
}

function chunk(name: string, content: readonly number[] | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const padding = Buffer.alloc(padded(bytes.length) - bytes.length);
  return Buffer.concat([Buffer.from(name), Buffer.from(int32(bytes.length)), bytes, padding]);
}

const padded = (length: number): number => length + (length % 2);
const int24 = (value: number): number[] => [value & 255, (value >> 8) & 255, (value >> 16) & 255];
const int32 = (value: number): number[] => [...int24(value), (value >>> 24) & 255];
