/**
 * Acknowledgements for protocols without receipts. A turn that starts acknowledges the last message, unless an
 * earlier message was not acknowledged: that one may be stored late, by a node that was paused or had no
 * database, and start a turn as well. The log then tells whether the message is stored.
 */
import { type DurableEvent, textOf } from '../../packages/protocol/src/index.ts';
import type { ClientContext } from './client.ts';
import type { Sent } from './evidence.ts';

const PAGE = 1_000;

/** `started` resolves when the next turn starts. */
export async function acknowledged(
  { server, conversation, ledger }: ClientContext,
  message: Sent,
  { started, token }: { readonly started: () => Promise<unknown>; readonly token?: string },
): Promise<void> {
  await started();
  const inDoubt = conversation.sent.some((sent) => sent !== message && !sent.acknowledged);
  while (inDoubt && !(await isStored(server.http, message, token))) await started();
  ledger.acknowledge(message);
}

async function isStored(http: string, { session, text }: Sent, token: string | undefined): Promise<boolean> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  for (let after: number | null = 0; after !== null; ) {
    const url: string = `${http}/v1/sessions/${session}/events?limit=${PAGE}&after=${after}`;
    const response: Response = await fetch(url, { headers });
    if (!response.ok) throw new Error(`events answered ${response.status}`);
    const page = (await response.json()) as { events: DurableEvent[]; next: number | null };
    const isOwn = (event: DurableEvent) =>
      event.type === 'input.accepted' && textOf(event.parts.slice(0, 1)) === text;
    if (page.events.some(isOwn)) return true;
    after = page.events.length === 0 ? null : page.next;
  }
  return false;
}
