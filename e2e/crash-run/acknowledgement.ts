/**
 * Acknowledgements for protocols without receipts. A turn that starts acknowledges the last message, unless an
 * earlier message was not acknowledged: that one may be stored late, by a node that was paused or had no
 * database, and start a turn as well. The log then tells whether the message is stored.
 */
import type { ClientContext } from './client.ts';
import { readSession } from './clients/native.ts';
import type { Sent } from './evidence.ts';
import { readTurns } from './turns.ts';

/** `started` resolves when the next turn starts. */
export async function acknowledged(
  { server, conversation, ledger }: ClientContext,
  message: Sent,
  { started, token }: { readonly started: () => Promise<unknown>; readonly token?: string },
): Promise<void> {
  const { session, text } = message;
  const reading = { process: `reader of ${session}`, session, token };
  const isStored = async () => readTurns(await readSession(server, reading, ledger)).inputs.includes(text);
  await started();
  const inDoubt = conversation.sent.some((sent) => sent !== message && !sent.acknowledged);
  while (inDoubt && !(await isStored())) await started();
  ledger.acknowledge(message);
}
