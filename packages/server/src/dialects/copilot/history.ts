/** The messages of a session, read from its facts. */
import type { Fact } from '@parlance/protocol';
import type { Engine, Now } from '../../core/engine.ts';
import { type CopilotMessage, messagesOf } from './messages.ts';

/** Facts of this wire carry whole pages. */
const PAGE = 100;

export type Wanted = {
  readonly limit: number;
  /** nothing that is older, in milliseconds */
  readonly since?: number;
};

/** The latest `limit` messages, oldest first. Reads backwards, so a long history costs no more than a short one. */
export async function latestMessages(
  engine: Engine,
  { ref, seq, said }: Now,
  { limit, since = 0 }: Wanted,
): Promise<CopilotMessage[]> {
  let facts: Fact[] = [];
  let messages: CopilotMessage[] = [];
  for (let after = seq; after > 0 && messages.length < limit; ) {
    const end = after;
    after = Math.max(0, end - PAGE);
    facts = [...(await engine.facts(ref, after, end - after)), ...facts];
    // A call is understood only where its request has been read, and that is in the same turn.
    const whole = after === 0 ? 0 : facts.findIndex((fact) => fact.type === 'turn.started');
    if (whole < 0) continue;
    messages = messagesOf(facts.slice(whole));
    if ((facts[whole]?.at ?? 0) < since) break;
  }
  const first = said - messages.length;
  return messages
    .map((message) => ({ ...message, sequenceNumber: first + message.sequenceNumber }))
    .filter((message) => Date.parse(message.timestamp) >= since)
    .slice(-limit);
}
