/** Ids on the wire, made from the id of the event: the same event always gives the same ids. */

/** The nth id of an event: a UUID as the event's own is. */
export function nthId(id: string, n: number): string {
  if (n === 0) return id;
  const tail = (Number.parseInt(id.slice(-4), 16) ^ n).toString(16).padStart(4, '0');
  return id.slice(0, -4) + tail;
}

/** `<prefix>_<ms>_<9 base36>`, the form that clients of the extension contract use. */
export function stampedId(prefix: string, at: number, id: string): string {
  const digits = BigInt(`0x${id.replaceAll('-', '').slice(-16)}`).toString(36);
  return `${prefix}_${at}_${digits.padStart(9, '0').slice(-9)}`;
}
