/**
 * Signatures with the secret of the cluster: write access to the carrier is not enough to send a message or to
 * register an entry. A signature covers the place, a channel or a set, so that it is worth nothing in another.
 */
import { timingSafeEqual } from 'node:crypto';

/** Characters of a signature. */
export const SIGNATURE_LENGTH = 64;

export class Signatures {
  readonly #key: Buffer;

  constructor(cluster: string, secret: string) {
    // The secret signs tokens as well.
    this.#key = new Bun.CryptoHasher('sha256', secret).update(`messages of cluster ${cluster}`).digest();
  }

  of(place: string, text: string): string {
    return new Bun.CryptoHasher('sha256', this.#key).update(JSON.stringify(place)).update(text).digest('hex');
  }

  isValid(signature: string, place: string, text: string): boolean {
    const [given, expected] = [Buffer.from(signature), Buffer.from(this.of(place, text))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}
