/**
 * `native`. Acknowledged: the 200 of the command. An unacknowledged message is repeated with its
 * `Idempotency-Key` until it is acknowledged, and must be stored once. Several are sent in a row.
 */
import { type DurableEvent, textOf } from '../../../packages/protocol/src/index.ts';
import type { EventReader } from '../../event-reader.ts';
import { postJson } from '../../server-process.ts';
import { type RunContext, retryAfterKills } from '../client.ts';
import type { Sent } from '../evidence.ts';
import { follower } from '../follower.ts';
import { completedBy } from '../history.ts';
import type { Conversation, Ledger } from '../ledger.ts';
import type { Random } from '../random.ts';
import { readTurns } from '../turns.ts';

/** Resolves when the message is acknowledged. Its events are recorded as received. */
export async function submitKeyed(
  server: {
    readonly http: string;
    readonly headers?: Record<string, string>;
    /** its name in the history, if several send the same message */
    readonly process?: string;
  },
  message: Sent,
  ledger: Ledger,
): Promise<void> {
  const { session, dialect, number, text } = message;
  const key = `${session}-${number}`;
  const process = server.process ?? `${dialect} ${session}`;
  const command = { type: 'input.submit', parts: [{ type: 'text', text }] };
  const headers = { 'idempotency-key': key, ...server.headers };
  const url = `${server.http}/v1/sessions/${session}/commands`;
  const { status, body } = await ledger.history.run(
    { process, operation: 'input', arguments: { session, text, key } },
    () => postJson(url, command, headers),
    completedBy(({ seq, facts }) => ({ seq: Number(seq), event: inputIn(facts as DurableEvent[], text) })),
  );
  if (status !== 200) throw new Error(`a command got ${status}: ${JSON.stringify(body)}`);
  receipt(session, body.facts as DurableEvent[], ledger);
  ledger.acknowledge(message);
}

/** The id of the event that stores the message. */
const inputIn = (events: readonly DurableEvent[], text: string): string | undefined =>
  events.find((event) => event.type === 'input.accepted' && textOf(event.parts.slice(0, 1)) === text)?.id;

const PAGE = 1_000;

/** All events of a session, recorded in the history as one read. */
export function readSession(
  { http }: { readonly http: string },
  { process, session, token }: { process: string; session: string; token?: string | undefined },
  ledger: Ledger,
): Promise<DurableEvent[]> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const read = async () => {
    const events: DurableEvent[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const url: string = `${http}/v1/sessions/${session}/events?limit=${PAGE}&after=${after}`;
      const response: Response = await fetch(url, { headers });
      if (!response.ok) throw new Error(`events answered ${response.status}`);
      const page = (await response.json()) as { events: DurableEvent[]; next: number | null };
      events.push(...page.events);
      after = page.events.length === 0 ? null : page.next;
    }
    return events;
  };
  return ledger.history.run({ process, operation: 'read', arguments: { session } }, read, (events) => ({
    ok: {
      inputs: readTurns(events).inputs.slice(),
      answers: events.flatMap((event) =>
        event.type === 'approval.answered' ? [[event.approval, event.answer] as [string, string]] : [],
      ),
      tokens: events.reduce(
        (sum, event) =>
          event.type === 'step.ended' || event.type === 'usage.recorded'
            ? sum + event.usage.inputTokens + event.usage.outputTokens
            : sum,
        0,
      ),
    },
  }));
}

export function receipt(session: string, events: readonly DurableEvent[], ledger: Ledger): void {
  for (const { seq, id } of events) ledger.received.push({ reader: null, session, seq, id });
}

/** Number of ended turns. */
export const endsIn = (events: readonly DurableEvent[]): number =>
  events.filter(({ type }) => type === 'turn.ended' || type === 'turn.cancelled' || type === 'turn.failed')
    .length;

/** `name` is the prefix of its session ids. */
export async function nativeClient(run: RunContext, random: Random, name = 'native'): Promise<void> {
  const { ledger } = run;
  for (let count = 1; !run.stopping; count++) {
    const conversation = ledger.begin('native', `${name}-${count}`);
    const reader = follower(conversation.id, ledger);
    for (let burst = random.between(2, 5); burst > 0 && !run.stopping; burst--) {
      await sendBurst({ conversation, reader }, run, random);
    }
    reader.cut();
  }
}

async function sendBurst(
  { conversation, reader }: { conversation: Conversation; reader: EventReader },
  run: RunContext,
  random: Random,
): Promise<void> {
  const { ledger } = run;
  const messages = Array.from({ length: random.between(1, 3) }, () => ledger.next(conversation, random));
  await retryAfterKills('native', run, async (server) => {
    for (const message of messages) {
      if (!message.acknowledged) await submitKeyed(server, message, ledger);
    }
    await reader.follow(server);
    await reader.until(({ events }) => endsIn(events) === conversation.sent.length);
    return true;
  });
}
