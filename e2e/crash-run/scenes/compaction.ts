/**
 * A conversation that is compacted repeatedly: the model summarises slowly, and the server is killed during it.
 */
import type { DurableEvent } from '../../../packages/protocol/src/index.ts';
import { postJson } from '../../server-process.ts';
import { type RunContext, retryAfterKills } from '../client.ts';
import { endsIn, receipt, submitKeyed } from '../clients/native.ts';
import { follower } from '../follower.ts';
import { countTo } from '../messages.ts';
import type { Random } from '../random.ts';

/** Enough turns to summarise. */
const MESSAGES = 3;

export async function compactionScene(run: RunContext, random: Random): Promise<void> {
  const { ledger } = run;
  const conversation = ledger.begin('native', 'compaction');
  const { id: session } = conversation;
  const reader = follower(session, ledger);
  while (!run.stopping) {
    const messages = Array.from({ length: MESSAGES }, () =>
      ledger.addMessage(conversation, { text: countTo(10 + conversation.sent.length) }),
    );
    await retryAfterKills('compaction', run, async (server) => {
      for (const message of messages) {
        if (!message.acknowledged) await submitKeyed(server, message, ledger);
      }
      await reader.follow(server);
      await reader.until(({ events }) => endsIn(events) === conversation.sent.length);
      const url = `${server.http}/v1/sessions/${session}/commands`;
      const compacting = postJson(url, { type: 'context.compact' });
      const seen = setTimeout(() => ledger.saw('compaction'), random.between(5, 100));
      try {
        const { status, body } = await compacting;
        // 409: the compaction had completed when the server was killed.
        if (status !== 200 && status !== 409)
          throw new Error(`compaction was answered ${status}: ${JSON.stringify(body)}`);
        if (status === 200) receipt(session, body.facts as DurableEvent[], ledger);
      } finally {
        clearTimeout(seen);
      }
      return true;
    });
  }
  reader.cut();
}
