/**
 * Approvals that stay pending through kills. Each is requested and shown in another dialect, and answered over
 * the native API after a later restart, or not at all.
 */
import type { AnyFrame } from '../../../packages/server/src/testing/client.ts';
import { DRIVERS } from '../../drivers.ts';
import { postJson, type ServerProcess } from '../../server-process.ts';
import { type RunContext, retryAfterKills } from '../client.ts';
import type { Waited } from '../evidence.ts';
import { completedBy } from '../history.ts';
import type { Conversation, Ledger } from '../ledger.ts';
import { ASKED_EFFECT } from '../messages.ts';
import type { Random } from '../random.ts';

type Listed = { approvals: { id: string; session: string }[] };

/** Pending approvals in sessions of that user, or of callers without a token. */
export async function pendingApprovals(
  server: ServerProcess,
  owner: string | undefined,
): Promise<Listed['approvals']> {
  const response = await fetch(`${server.http}/v1/approvals?limit=500`, { headers: bearer(owner) });
  return ((await response.json()) as Listed).approvals;
}

/** At most one per server process, or one in this time. */
const PAUSE_MS = 500;

/** Conversations of `conversations` belong to a user, the others to callers without a token. */
const ASKED_IN = ['agentloop', 'broadcast', 'extension', 'conversations'] as const;

export async function approvalScene(run: RunContext, random: Random): Promise<void> {
  const { ledger, victim } = run;
  const left: { waited: Waited; life: number; owner: string | undefined }[] = [];
  for (let count = 1; !run.stopping; count++) {
    const dialect = random.pick(ASKED_IN);
    const conversation = ledger.begin(dialect, `${dialect === 'conversations' ? 'temp-' : ''}asks-${count}`);
    const owner = dialect === 'conversations' ? run.token : undefined;
    await retryAfterKills('approval', run, async (server) => {
      const { number: life } = await victim.up();
      const waited = await leftWaiting(server, conversation, { owner, ledger });
      if (waited) left.push({ waited, life, owner });
      return true;
    });
    await retryAfterKills('approval', run, async (server) => {
      const { number: life } = await victim.up();
      for (const one of left.filter((waiting) => waiting.life < life)) {
        if (one.waited.answer === 'none' && random.chance(0.5))
          await answer(server, one.waited, { owner: one.owner, ledger });
      }
      await victim.over(life, PAUSE_MS);
      return true;
    });
  }
}

/** Null if the message was sent and the server was killed before it was stored. */
async function leftWaiting(
  server: ServerProcess,
  conversation: Conversation,
  { owner, ledger }: { owner: string | undefined; ledger: Ledger },
): Promise<Waited | null> {
  const { id: session, dialect, sent } = conversation;
  const open = DRIVERS[dialect];
  if (!open) throw new Error(`no driver for ${dialect}`);
  const again = sent[0];
  if (again && !(await exists(server, session, owner))) return null;
  const name = again ? '' : ledger.newEffect();
  const message =
    again ?? ledger.addMessage(conversation, { text: `run ${ASKED_EFFECT} ${name}`, effect: name });
  const driver = await open(server, session, owner ?? '');
  // The approval request shows that the message was accepted.
  const asked = async () => {
    for (let frame = await driver.asked(); !isOf(session, frame); ) frame = await driver.asked();
  };
  if (again) await asked();
  else
    await ledger.sending(message, () => {
      driver.say(message.text);
      return asked();
    });
  ledger.acknowledge(message);
  ledger.saw('approval');
  driver.client.close();
  const listed = (await pendingApprovals(server, owner)).find((one) => one.session === session);
  if (!listed) throw new Error(`${session} waits for an approval that is not listed`);
  const waited: Waited = { session, approval: listed.id, answer: 'none' };
  ledger.waited.push(waited);
  return waited;
}

/** If a socket receives several sessions, the frame names its session. */
const isOf = (session: string, { conversationId, session_id, sessionId }: AnyFrame): boolean =>
  [conversationId, session_id, sessionId].every((named) => named === undefined || named === session);

const bearer = (owner: string | undefined): Record<string, string> =>
  owner ? { authorization: `Bearer ${owner}` } : {};

const exists = async (server: ServerProcess, session: string, owner: string | undefined): Promise<boolean> =>
  (await fetch(`${server.http}/v1/sessions/${session}`, { headers: bearer(owner) })).ok;

/** Records the answer in the history. */
export const answerApproval = (
  server: ServerProcess,
  answering: Pick<Waited, 'session' | 'approval'> & { readonly answer: string; readonly process: string },
  { owner, ledger }: { owner: string | undefined; ledger: Ledger },
) => {
  const { process, session, approval, answer } = answering;
  return ledger.history.run(
    { process, operation: 'approve', arguments: { session, approval, answer } },
    () => postJson(`${server.http}/v1/approvals/${approval}`, { answer }, bearer(owner)),
    completedBy(({ seq }) => ({ seq: Number(seq) })),
  );
};

async function answer(
  server: ServerProcess,
  waited: Waited,
  { owner, ledger }: { owner: string | undefined; ledger: Ledger },
): Promise<void> {
  waited.answer = 'sent';
  const answering = { ...waited, answer: 'once', process: `approver ${waited.session}` };
  const { status, body } = await answerApproval(server, answering, { owner, ledger });
  if (status !== 200) throw new Error(`an approval was answered ${status}: ${JSON.stringify(body)}`);
  waited.answer = 'acknowledged';
}
