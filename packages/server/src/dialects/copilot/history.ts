/** The messages of a session, read from its events. */
import type { Engine, SessionSnapshot } from '../../core/api/index.ts';
import { latestEvents } from '../shared/latest-events.ts';
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
  let messages: CopilotMessage[] = [];
  for await (const { events, whole } of latestEvents(engine, { ref, head: seq }, PAGE)) {
    // A call needs its request, which is in the same turn.
    const start = whole ? 0 : events.findIndex((event) => event.type === 'turn.started');
    if (start < 0) continue;
    messages = messagesOf(events.slice(start));
    if (messages.length >= limit || (events[start]?.at ?? 0) < since) break;
  }
  const first = messageCount - messages.length;
  return messages
    .map((message) => ({ ...message, sequenceNumber: first + message.sequenceNumber }))
    .filter((message) => Date.parse(message.timestamp) >= since)
    .slice(-limit);
}
