/** The messages of a session, as the projection makes them from its events. */
import type { CallId, DurableEvent } from '@parlance/protocol';
import type { Engine, SessionSnapshot } from '../../core/index.ts';
import { latestEvents } from '../kit/latest-events.ts';
import { replay } from '../kit/replay.ts';
import { withOutcome } from './action-message.ts';
import type { CopilotMessage } from './message.ts';
import { startAt, step } from './projection.ts';

/** Small, because events of this dialect contain whole pages. */
const PAGE = 100;

export type HistoryQuery = {
  readonly limit: number;
  /** earliest time, in milliseconds */
  readonly since?: number;
};

/**
 * The latest `limit` messages, oldest first. Reads backwards, so the cost does not depend on the length of the
 * history.
 */
export async function latestMessages(
  engine: Engine,
  { ref, seq, messageCount }: SessionSnapshot,
  { limit, since = 0 }: HistoryQuery,
): Promise<CopilotMessage[]> {
  let messages: CopilotMessage[] = [];
  for await (const { events, whole } of latestEvents(engine, { ref, head: seq }, PAGE)) {
    // A call can be shown only with its request, which is in the same turn.
    const start = whole
      ? 0
      : events.findIndex(({ type }) => type === 'turn.started' || type === 'history.imported');
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

/**
 * All messages of these events; actions include their later outcome. `count` is the number of earlier messages.
 */
export function messagesOf(events: readonly DurableEvent[], count = 0): CopilotMessage[] {
  const messages: CopilotMessage[] = [];
  const actions = new Map<CallId, number>();
  for (const { event, bodies } of replay(step, startAt(count), events)) {
    const added = bodies.flatMap((body) => (body.type === 'new_message' ? [body.message] : []));
    messages.push(...added);
    if (event.type === 'call.deferred' && added.at(-1)?.status) actions.set(event.call, messages.length - 1);
    if (event.type !== 'tool.ended') continue;
    const index = actions.get(event.call) ?? -1;
    const action = messages[index];
    if (action) messages[index] = withOutcome(action, event);
  }
  return messages;
}
