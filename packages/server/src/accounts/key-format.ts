/** Format of API keys and of secrets like them: a prefix, a public id used for lookup, and a secret part. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { API_KEY_PREFIX } from '../http/request-identity.ts';

/**
 * Letters and digits only: a double click selects the whole key, and it needs no escaping in URLs and shells.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 16;
/** 43 characters of 62 have 256 bits. */
const SECRET_LENGTH = 43;

const FORMAT = new RegExp(`^(p[a-z]{2}_)([0-9A-Za-z]{${ID_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH}}$`);

export type NewKey = { readonly id: string; readonly text: string; readonly hash: string };

export function newKey(prefix = API_KEY_PREFIX): NewKey {
  const id = newId();
  const text = `${prefix}${id}_${newSecret()}`;
  return { id, text, hash: hashOf(text) };
}

export const newId = (): string => randomText(ID_LENGTH);
export const newSecret = (): string => randomText(SECRET_LENGTH);

/** Null if the text is not in our format. */
export function idOf(text: string, prefix = API_KEY_PREFIX): string | null {
  const [, before, id = null] = FORMAT.exec(text) ?? [];
  return before === prefix ? id : null;
}

/**
 * A fast hash is appropriate: the secret part has 256 random bits, so brute force is impossible, and a slow
 * hash would run for every request. For passwords, see `passwords.ts`.
 */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Constant time, wherever the hashes differ. */
export function matches(text: string, hash: string): boolean {
  const [given, stored] = [Buffer.from(hashOf(text), 'hex'), Buffer.from(hash, 'hex')];
  return given.length === stored.length && timingSafeEqual(given, stored);
}

function randomText(length: number): string {
  let text = '';
  while (text.length < length)
    // Larger bytes are dropped to avoid a bias towards the first letters.
    for (const byte of randomBytes(length))
      if (byte < 4 * ALPHABET.length && text.length < length) text += ALPHABET[byte % ALPHABET.length];
  return text;
}
