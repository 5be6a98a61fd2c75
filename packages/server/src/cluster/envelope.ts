/**
 * Encodes a batch of messages as signed text. Each batch carries the format version: a node drops batches of
 * other versions and reads the missed events from the store.
 */

import { timingSafeEqual } from 'node:crypto';
import { isObject, parsedObject } from '@parlance/protocol';

const VERSION = 2;

/** The position of a batch among those of its sender. */
export type Stamp = {
  readonly from: string;
  /** increases with every connection of the sender */
  readonly generation: number;
  /** 1, 2, 3, … per channel and generation */
  readonly number: number;
  /** the time of the pub/sub service when it was sent, in milliseconds */
  readonly at: number;
};

export type Item = {
  readonly kind: string;
  readonly body?: unknown;
  /** id of a request */
  readonly request?: number;
  /** id of the request that this item answers */
  readonly answer?: number;
  /** reason if the request was refused */
  readonly refused?: string;
};

export type Batch = Stamp & { readonly items: readonly Item[] };

export const encodeItem = (item: Item): string => JSON.stringify(item);

/** The channel that the batch is sent on, and what signs it. */
export type Place = { readonly channel: string; readonly signatures: Signatures };

const HEAD = `{"version":${VERSION},"signature":"`;
const BEFORE_BATCH = '","batch":';
/** hexadecimal SHA-256 */
export const SIGNATURE_LENGTH = 64;
const BATCH_AT = HEAD.length + SIGNATURE_LENGTH + BEFORE_BATCH.length;

export function encodeBatch(stamp: Stamp, items: readonly string[], { channel, signatures }: Place): string {
  const { from, generation, number, at } = stamp;
  const batch = `{"from":${JSON.stringify(from)},"generation":${generation},"number":${number},"at":${at},"items":[${items.join(',')}]}`;
  return `${HEAD}${signatures.of(channel, batch)}${BEFORE_BATCH}${batch}}`;
}

/** Why a batch or item was dropped. */
export type DropReason =
  | 'version'
  | 'invalid'
  | 'signature'
  | 'repeated'
  | 'stale'
  | 'unhandled'
  | 'oversized';

/** The input is untrusted: anyone with write access to the pub/sub service can send it. */
export function decodeBatch(text: string, place: Place): Batch | 'version' | 'invalid' | 'signature' {
  if (!text.startsWith(HEAD)) return isOtherVersion(text) ? 'version' : 'invalid';
  const signed = text.slice(BATCH_AT, -1);
  if (
    !place.signatures.isValid(text.slice(HEAD.length, HEAD.length + SIGNATURE_LENGTH), place.channel, signed)
  )
    return 'signature';
  const value = parsedObject(signed);
  if (!value) return 'invalid';
  const { from, generation, number, at, items } = value;
  if (!isName(from) || !isCount(generation) || !isCount(number) || !isCount(at) || !Array.isArray(items))
    return 'invalid';
  return items.every(isItem) ? { from, generation, number, at, items } : 'invalid';
}

function isOtherVersion(text: string): boolean {
  const version = parsedObject(text)?.version;
  return typeof version === 'number' && version !== VERSION;
}

const MAX_NAME_LENGTH = 200;

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

const isOptionalCount = (value: unknown): boolean => value === undefined || isCount(value);

function isItem(value: unknown): value is Item {
  if (!isObject(value) || !isName(value.kind)) return false;
  const { request, answer, refused } = value;
  if (!isOptionalCount(request) || !isOptionalCount(answer)) return false;
  return refused === undefined || typeof refused === 'string';
}

// Signatures with the secret of the cluster: write access to the pub/sub service is not enough to send a message or to
// register an entry. A signature covers the place, a channel or a set, so that it is worth nothing in another.

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
