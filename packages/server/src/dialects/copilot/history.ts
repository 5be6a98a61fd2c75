/** The messages of a session, read from its events. */
import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionSnapshot } from '../../core/api/index.ts';
import { type CopilotMessage, messagesOf } from './messages.ts';

/** Events of this wire carry whole pages. */
const PAGE = 100;

export type Wanted = {
  readonly limit: number;
  /** nothing that is older, in milliseconds */
  readonly since?: number;
};

/** The latest `limit` messages, oldest first. Reads backwards, so a long history costs no more than a short one. */
export async function latestMessages(
  engine: Engine,
  { ref, seq, messageCount }: SessionSnapshot,
  { limit, since = 0 }: Wanted,
): Promise<CopilotMessage[]> {
  let events: DurableEvent[] = [];
  let messages: CopilotMessage[] = [];
  for (let after = seq; after > 0 && messages.length < limit; ) {
    const end = after;
    after = Math.max(0, end - PAGE);
    events = [...(await engine.events(ref, after, end - after)), ...events];
    // A call is understood only where its request has been read, and that is in the same turn.
    const whole = after === 0 ? 0 : events.findIndex((event) => event.type === 'turn.started');
    if (whole < 0) continue;
    messages = messagesOf(events.slice(whole));
    if ((events[whole]?.at ?? 0) < since) break;
  }
  const first = messageCount - messages.length;
  return messages
    .map((message) => ({ ...message, sequenceNumber: first + message.sequenceNumber }))
    .filter((message) => Date.parse(message.timestamp) >= since)
    .slice(-limit);
}
