/**
 * Two clients that do the same at once, each at another node: both send a message with one idempotency key, and
 * give different answers to its approval. One effect is allowed.
 */
import { type RunContext, retryAfterKills } from '../client.ts';
import { submitKeyed } from '../clients/native.ts';
import { ASKED_EFFECT } from '../messages.ts';
import { answerApproval, pendingApprovals } from './approval.ts';

const RIVALS = [
  { process: 'rival 1', answer: 'once' },
  { process: 'rival 2', answer: 'deny' },
] as const;

export async function rivalScene(run: RunContext): Promise<void> {
  const { ledger, victim } = run;
  for (let count = 1; !run.stopping; count++) {
    const conversation = ledger.begin('native', `rivals-${count}`);
    const { id: session } = conversation;
    const effect = ledger.newEffect();
    const message = ledger.addMessage(conversation, { text: `run ${ASKED_EFFECT} ${effect}`, effect });
    const attempts = RIVALS.map(({ process }) =>
      retryAfterKills(process, run, async ({ http }) => {
        await submitKeyed({ http, process }, message, ledger);
        return true;
      }),
    );
    await Promise.all(attempts);

    let approval: string | undefined;
    await retryAfterKills('rivals', run, async (server) => {
      const { number } = await victim.up();
      while (!approval) {
        approval = (await pendingApprovals(server, undefined)).find((one) => one.session === session)?.id;
        // Not an error: `number` may be that of another node than `server`.
        if (!approval && (await victim.over(number, 50))) return false;
      }
      return true;
    });
    if (!approval) return;
    const waiting = { session, approval };
    const answers = RIVALS.map((rival) =>
      retryAfterKills(rival.process, run, async (server) => {
        const answering = { ...rival, ...waiting };
        const { status } = await answerApproval(server, answering, { owner: undefined, ledger });
        if (status >= 500) throw new Error(`an approval was answered ${status}`);
        return true;
      }),
    );
    await Promise.all(answers);
  }
}
