/** Ids in frames, derived from the event id: the same event always gives the same ids. */

/**
 * The nth id derived from a UUID, itself a UUID: `n` (below 2^48) is XORed into the last group, so that different
 * numbers give different ids and version and variant stay as they are.
 */
export function nthId(id: string, n: number): string {
  if (n === 0) return id;
  const high = Math.floor(n / 0x1_0000);
  const upper = high === 0 ? id.slice(-12, -4) : xored(id.slice(-12, -4), high);
  return id.slice(0, -12) + upper + xored(id.slice(-4), n % 0x1_0000);
}

const xored = (digits: string, value: number): string =>
  ((Number.parseInt(digits, 16) ^ value) >>> 0).toString(16).padStart(digits.length, '0');

/** `<prefix>_<ms>_<9 base36>`, the format of ids in the extension contract. */
export function stampedId(prefix: string, at: number, id: string): string {
  const digits = BigInt(`0x${id.replaceAll('-', '').slice(-16)}`).toString(36);
  return `${prefix}_${at}_${digits.padStart(9, '0').slice(-9)}`;
}
