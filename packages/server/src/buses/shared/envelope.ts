/**
 * Encodes a batch of messages as text. Each batch carries the format version: a node drops batches of other
 * versions and reads the missed events from the store.
 */

export const VERSION = 1;

/** The position of a batch among those of its sender. */
export type Stamp = {
  readonly from: string;
  /** increases with every connection of the sender */
  readonly generation: number;
  /** 1, 2, 3, … per channel and generation */
  readonly number: number;
};

export type Item = {
  readonly kind: string;
  /** in a signed item, the exact text that was signed */
  readonly body?: unknown;
  /** id of a request */
  readonly request?: number;
  /** id of the request that this item answers */
  readonly answer?: number;
  /** reason if the request was refused */
  readonly refused?: string;
  readonly signature?: Signature;
};

export type Signature = { readonly count: number; readonly mac: string };

export type Batch = Stamp & { readonly items: readonly Item[] };

export const encodeItem = (item: Item): string => JSON.stringify(item);

export function encodeBatch({ from, generation, number }: Stamp, items: readonly string[]): string {
  return `{"version":${VERSION},"from":${JSON.stringify(from)},"generation":${generation},"number":${number},"items":[${items.join(',')}]}`;
}

/** Why a batch or item was dropped. */
export type DropReason = 'version' | 'invalid' | 'signature' | 'repeated' | 'unhandled' | 'oversized';

/** The input is untrusted: anyone with write access to the carrier can send it. */
export function decodeBatch(text: string): Batch | 'version' | 'invalid' {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'invalid';
  }
  if (!isRecord(value)) return 'invalid';
  if (value.version !== VERSION) return typeof value.version === 'number' ? 'version' : 'invalid';
  const { from, generation, number, items } = value;
  if (!isName(from) || !isCount(generation) || !isCount(number) || !Array.isArray(items)) return 'invalid';
  return items.every(isItem) ? { from, generation, number, items } : 'invalid';
}

const MAX_NAME_LENGTH = 200;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

const isOptionalCount = (value: unknown): boolean => value === undefined || isCount(value);

function isItem(value: unknown): value is Item {
  if (!isRecord(value) || !isName(value.kind)) return false;
  const { request, answer, refused, signature } = value;
  if (!isOptionalCount(request) || !isOptionalCount(answer)) return false;
  if (refused !== undefined && typeof refused !== 'string') return false;
  return signature === undefined || isSignature(signature);
}

const isSignature = (value: unknown): value is Signature =>
  isRecord(value) && isCount(value.count) && typeof value.mac === 'string';
