/**
 * A reader of a session that reconnects after every kill. Records every event, and compares each text assembled
 * from snapshot and deltas with the event that ends it.
 */
import { EventReader } from '../event-reader.ts';
import type { Ledger } from './ledger.ts';

export function follower(session: string, ledger: Ledger): EventReader {
  const reader = new EventReader(session, (event) => {
    if (event.type === 'text.delta') ledger.saw('stream');
    if (event.type === 'tool.started') ledger.saw('tool');
    if (!('seq' in event)) return;
    ledger.received.push({ reader: `native ${session}`, session, seq: event.seq, id: event.id });
    if (event.type !== 'text.ended' && event.type !== 'reasoning.ended') return;
    const pieces = reader.blocks.get(event.block);
    if (pieces !== undefined)
      ledger.assembled.push({ session, dialect: 'native', pieces, whole: event.text });
  });
  return reader;
}
