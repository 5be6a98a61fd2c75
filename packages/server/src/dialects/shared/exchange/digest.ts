/** A digest of a conversation: two with the same roles, texts, calls and results have the same. */
import { type HistoryItem, type Json, textOf } from '@parlance/protocol';

export class ConversationDigest {
  readonly #hash = new Bun.CryptoHasher('sha256');

  constructor(items: readonly HistoryItem[] = []) {
    for (const item of items) this.add(item);
  }

  add(item: HistoryItem): void {
    const counted = countedPart(item);
    if (counted !== null) this.#hash.update(`${JSON.stringify(counted)}\n`);
  }

  /** of what was added so far */
  get value(): string {
    return this.#hash.copy().digest('hex');
  }
}

export const digestOf = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex');

function countedPart(item: HistoryItem): unknown[] | null {
  switch (item.type) {
    case 'user':
      return [
        'user',
        textOf(item.parts),
        ...item.parts.flatMap((part) => ('data' in part ? [part.data] : [])),
      ];
    case 'text':
      return ['text', item.text];
    case 'call':
      return ['call', item.call, item.tool, sorted(item.input)];
    case 'result':
      return ['result', item.call, textOf(item.parts)];
    case 'system':
    case 'reasoning':
      return null;
  }
}

/** Clients may write the fields of arguments in another order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
