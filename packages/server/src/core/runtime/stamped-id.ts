/** `<prefix>_<ms>_<9 base36>`, the form that clients of the extension contract use. */
export function stampedId(prefix: string, at: number, id: string): string {
  const digits = BigInt(`0x${id.replaceAll('-', '').slice(-16)}`).toString(36);
  return `${prefix}_${at}_${digits.padStart(9, '0').slice(-9)}`;
}
