/** Ids on the wire, made from the id of the event: the same event always gives the same ids. */
export { stampedId } from '../core/engine.ts';

/** The nth id of an event: a UUID as the event's own is. */
export function nthId(id: string, n: number): string {
  if (n === 0) return id;
  const tail = (Number.parseInt(id.slice(-4), 16) ^ n).toString(16).padStart(4, '0');
  return id.slice(0, -4) + tail;
}
