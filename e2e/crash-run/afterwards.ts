/**
 * After the kills: lists pending approvals, checks that every session answers, and reads everything that is
 * stored.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import { slowness, waitLimit } from '../../packages/server/src/testing/until.ts';
import type { ServerProcess } from '../server-process.ts';
import { patienceMs } from './client.ts';
import { endsIn, readSession, submitKeyed } from './clients/native.ts';
import type { Evidence } from './evidence.ts';
import type { Conversation, Ledger } from './ledger.ts';
import { answerApproval, pendingApprovals } from './scenes/approval.ts';

/** Sessions of these belong to the user with the token. */
const OWNED = new Set(['conversations', 'copilot']);
const AT_ONCE = 8;
/** Extra time for the final answers, per session. */
const SESSION_MS = 50;

type Run = { readonly token: string; readonly folder: string; readonly ledger: Ledger };

export async function collect(server: ServerProcess, { token, folder, ledger }: Run): Promise<Evidence> {
  const waiting = [
    ...(await pendingApprovals(server, undefined)).map((one) => ({ ...one, token: undefined })),
    ...(await pendingApprovals(server, token)).map((one) => ({ ...one, token })),
  ];
  for (const { id: approval, session, token: owner } of waiting) {
    const answering = { process: 'last approver', session, approval, answer: 'deny' };
    const { status } = await answerApproval(server, answering, { owner, ledger });
    if (status !== 200) throw new Error(`an approval was denied with ${status}`);
  }
  const events = new Map<string, DurableEvent[]>();
  const left = [...ledger.conversations];
  const deadline = performance.now() + waitLimit() + left.length * SESSION_MS * slowness();
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const owner = OWNED.has(next.dialect) ? token : undefined;
      const exchange = lastExchange(server, next, { token: owner, ledger, deadline });
      const { id } = next;
      const read = within(deadline + patienceMs(), exchange).catch((thrown) => {
        ledger.recordError(`the last message to ${id}`, thrown);
        return readSession(server, { process: 'last reader', session: id, token: owner }, ledger);
      });
      events.set(id, await read);
    }
  };
  await readUsage(server, token, ledger);
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await readUsage(server, token, ledger);
  return {
    ...ledger,
    performed: [...linesOf(join(folder, 'effects.txt')), ...ledger.clientEffects],
    pending: waiting.map(({ id }) => id),
    events,
  };
}

/** The tokens that are counted for both users. */
async function readUsage({ http }: ServerProcess, token: string, { history }: Ledger): Promise<void> {
  const tokensOf = async (headers: Record<string, string>) => {
    const response = await fetch(`${http}/v1/usage`, { headers });
    if (!response.ok) throw new Error(`usage answered ${response.status}`);
    const { rows } = (await response.json()) as { rows: { inputTokens: number; outputTokens: number }[] };
    return rows.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  };
  await history.run(
    { process: 'accountant', operation: 'usage', arguments: {} },
    () => Promise.all([tokensOf({}), tokensOf(bearer(token))]),
    ([local, user]) => ({ ok: { tokens: local + user } }),
  );
}

/** Rejects on timeout. */
async function within<Value>(deadline: number, work: Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer')), deadline - performance.now());
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

const bearer = (token: string | undefined): Record<string, string> =>
  token ? { authorization: `Bearer ${token}` } : {};

/** Sends one more message; returns all events when it has been answered, or on timeout. */
async function lastExchange(
  server: ServerProcess,
  conversation: Conversation,
  { token, ledger, deadline }: { token: string | undefined; ledger: Ledger; deadline: number },
): Promise<DurableEvent[]> {
  const message = ledger.addMessage(conversation, { text: `echo last words of ${conversation.id}` });
  const process = `last sender ${conversation.id}`;
  await submitKeyed({ http: server.http, headers: bearer(token), process }, message, ledger);
  for (;;) {
    const reading = { process: 'last reader', session: conversation.id, token };
    const events = await readSession(server, reading, ledger);
    const inputs = events.filter(({ type }) => type === 'input.accepted').length;
    if (endsIn(events) === inputs || performance.now() > deadline) return events;
    await Bun.sleep(50);
  }
}

const linesOf = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
