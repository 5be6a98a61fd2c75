/** Encrypts stored data: a copy of the database does not reveal it without the server's secret. */
import { isObject, type JsonObject } from '@parlance/protocol';

const PURPOSE = new TextEncoder().encode('parlance stored settings');
const NONCE_BYTES = 12;

type Secret = Uint8Array<ArrayBuffer>;

async function keyFrom(secret: Secret): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: PURPOSE };
  const cipher = { name: 'AES-GCM', length: 256 };
  return crypto.subtle.deriveKey(derivation, material, cipher, false, ['encrypt', 'decrypt']);
}

/** Both, with this secret. */
export const vaultOf = (secret: Secret) => ({
  seal: (value: JsonObject) => seal(value, secret),
  unseal: (sealed: string) => unseal(sealed, secret),
});

export async function seal(value: JsonObject, secret: Secret): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const plain = new TextEncoder().encode(JSON.stringify(value));
  const encrypted = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await keyFrom(secret), plain);
  return Buffer.concat([iv, new Uint8Array(encrypted)]).toString('base64');
}

/** Null if it was sealed with another secret or modified. */
export async function unseal(sealed: string, secret: Secret): Promise<JsonObject | null> {
  const bytes = Uint8Array.from(Buffer.from(sealed, 'base64'));
  const iv = bytes.subarray(0, NONCE_BYTES);
  try {
    const key = await keyFrom(secret);
    const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, bytes.subarray(NONCE_BYTES));
    const value: unknown = JSON.parse(new TextDecoder().decode(plain));
    return isObject(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}
