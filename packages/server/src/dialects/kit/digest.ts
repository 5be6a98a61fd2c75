/**
 * A digest of a conversation: equal for the same roles, texts, calls and results. It is a hash chain, so the
 * digest alone is enough to continue it.
 */
import type { HistoryItem, Json, Part } from '@parlance/protocol';

export const digestOf = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex');

const EMPTY = digestOf('');

/** The digest of the items, appended to the conversation with the digest `before`. */
export function conversationDigest(items: readonly HistoryItem[], before = EMPTY): string {
  let digest = before;
  for (const item of items) {
    const counted = countedPart(item);
    if (counted !== null) digest = digestOf(`${digest}${JSON.stringify(counted)}`);
  }
  return digest;
}

/** Clients may send a text whole or in several parts. */
const wordsOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

function countedPart(item: HistoryItem): unknown[] | null {
  switch (item.type) {
    case 'user':
      return [
        'user',
        wordsOf(item.parts),
        ...item.parts.flatMap((part) => ('data' in part ? [part.data] : [])),
      ];
    case 'text':
      return ['text', item.text];
    case 'call':
      return ['call', item.call, item.tool, sorted(item.input)];
    case 'result':
      return ['result', item.call, wordsOf(item.parts)];
    case 'system':
    case 'reasoning':
      return null;
  }
}

/** Clients may write the fields of arguments in any order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
