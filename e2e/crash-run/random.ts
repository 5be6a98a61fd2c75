/** All randomness of a run, so that its seed determines it. */

export type Random = {
  /** from 0 (inclusive) to 1 (exclusive) */
  unit(): number;
  /** a whole number, both ends included */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Value>(from: readonly [Value, ...Value[]]): Value;
  /** an independent source, so that one client's draws do not depend on another's speed */
  branch(name: string): Random;
};

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  /** mulberry32 */
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(unit() * (most - least + 1));
  return {
    unit,
    between,
    chance: (probability) => unit() < probability,
    pick: (from) => from[between(0, from.length - 1)] ?? from[0],
    branch: (name) => seeded(Number(Bun.hash.crc32(`${seed}:${name}`))),
  };
}
