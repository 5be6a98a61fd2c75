/** The words that stores index for a message. */
import type { DurableEvent, PrincipalId } from '@parlance/protocol';
import { messageText } from '../../lib/message-text.ts';
import { wordsOf } from '../../lib/words.ts';
import { storable } from './text.ts';

/** Words beyond this number are not indexed. */
const MAX_WORDS = 20_000;

export type IndexedMessage = { readonly seq: number; readonly at: number; readonly words: readonly string[] };

export const indexedMessages = (events: readonly DurableEvent[]): IndexedMessage[] =>
  events.flatMap((event) => {
    const text = messageText(event);
    const words = text === null ? [] : wordsOf(text, MAX_WORDS).map(({ word }) => word);
    return words.length === 0 ? [] : [{ seq: event.seq, at: timeOf(event), words }];
  });

/** Imported events may have arbitrary times. */
export const timeOf = ({ at }: DurableEvent): number => Math.trunc(Math.min(Math.max(at, 0), 4e12)) || 0;

/**
 * Indexed with each message, so that a search reads only messages of one owner. Never equals a word of a
 * message.
 */
export const ownerMark = (owner: PrincipalId): string =>
  new Bun.CryptoHasher('sha256').update(storable(owner)).digest('hex').slice(0, 32);
