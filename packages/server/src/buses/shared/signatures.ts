/**
 * Signatures of messages that have effects. A signature covers the sender, the receiver and a counter that
 * increases with every signed message of the sender, so that a recorded message is rejected on other nodes
 * and when replayed. Node ids are new with every process start, so counters need not be stored.
 */
import { timingSafeEqual } from 'node:crypto';
import type { NodeId } from '../../core/ports/lease.ts';
import type { Item, Signature } from './envelope.ts';

export class Signatures {
  #count = 0;
  /** the last valid counter of each sender */
  readonly #seen = new Map<NodeId, number>();

  constructor(
    private readonly cluster: string,
    private readonly secret: string,
    private readonly node: NodeId,
  ) {}

  /** The item with its body as text, and its signature. */
  sign(item: Item, to: NodeId): Item {
    const signed = { ...item, body: JSON.stringify(item.body ?? null) };
    const count = ++this.#count;
    return { ...signed, signature: { count, mac: this.#mac(signed, { from: this.node, to, count }) } };
  }

  /** The item with its body parsed; null if the signature is missing, wrong, or was seen before. */
  verified(item: Item, from: NodeId): Item | null {
    const { signature, ...signed } = item;
    if (!signature || typeof signed.body !== 'string') return null;
    const { count, mac } = signature;
    if (!same(mac, this.#mac(signed, { from, to: this.node, count }))) return null;
    if (count <= (this.#seen.get(from) ?? 0)) return null;
    this.#seen.set(from, count);
    return { ...signed, body: JSON.parse(signed.body) };
  }

  #mac(item: Item, route: { from: NodeId; to: NodeId; count: Signature['count'] }): string {
    const { kind, body, request = null, answer = null, refused = null } = item;
    const { from, to, count } = route;
    const text = JSON.stringify([this.cluster, from, to, count, kind, request, answer, refused, body]);
    return new Bun.CryptoHasher('sha256', this.secret).update(text).digest('hex');
  }
}

function same(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
