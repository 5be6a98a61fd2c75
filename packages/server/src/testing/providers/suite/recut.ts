/** Splits bytes at arbitrary positions, as a network does. */

/** Pseudo-random numbers from 0 to 1: the same seed gives the same splits. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const CUTS = 12;

/** Chunks that join to the bytes. Some splits are inside characters and line ends. */
export function recut(bytes: Uint8Array, seed: number): Uint8Array[] {
  const random = seeded(seed);
  const pick = (from: readonly number[]) => from[Math.floor(random() * from.length)] ?? 0;
  const inside: number[] = [];
  const lineEnds: number[] = [];
  bytes.forEach((byte, at) => {
    if ((byte & 0xc0) === 0x80) inside.push(at);
    if (byte === 0x0a && bytes[at - 1] === 0x0d) lineEnds.push(at);
  });
  const cuts = new Set<number>();
  for (let count = 0; count < CUTS; count++) {
    cuts.add(Math.floor(random() * bytes.length));
    if (count % 3 === 0) cuts.add(pick(inside)).add(pick(lineEnds));
  }
  return pieces(bytes, [...cuts]);
}

export const byteByByte = (bytes: Uint8Array): Uint8Array[] => pieces(bytes, [...bytes.keys()]);

function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const sorted = [...cuts].sort((a, b) => a - b);
  return [...sorted, bytes.length]
    .map((end, at) => bytes.subarray(sorted[at - 1] ?? 0, end))
    .filter((piece) => piece.length > 0);
}
