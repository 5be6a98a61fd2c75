/** A browser that opens a page on request and reports it late. The opened page is the side effect. */
import type { AnyFrame } from '../../../packages/server/src/testing/client.ts';
import { acknowledged } from '../acknowledgement.ts';
import { type RunContext, retryAfterKills } from '../client.ts';
import { chat, registered } from '../clients/extension.ts';
import type { Random } from '../random.ts';

export async function browserScene(run: RunContext, random: Random): Promise<void> {
  const { ledger } = run;
  const conversation = ledger.begin('extension', 'browser');
  const { id: session } = conversation;
  await retryAfterKills('browser', run, async (server) => {
    const client = await registered(server, session, ['open_url']);
    const isOver = ({ type, sessionId }: AnyFrame) =>
      sessionId === session && (type === 'agent_response' || type === 'error');
    const isRequest = ({ type }: AnyFrame) => type === 'tool_execution_request';

    async function carryOut({ executionId, parameters }: AnyFrame): Promise<void> {
      const { url } = parameters as { url: string };
      ledger.clientEffects.push(url.slice(url.lastIndexOf('/') + 1));
      ledger.saw('browser');
      await Bun.sleep(random.between(20, 200));
      const answer = { success: true, result: { title: 'A page', url }, executionTime: 1 };
      const head = { id: 'msg_1_answer', type: 'tool_execution_response', timestamp: Date.now() };
      client.send({ ...head, executionId, ...answer });
    }

    async function started(): Promise<void> {
      const isWanted = (frame: AnyFrame) => frame.type === 'agent_status' || isRequest(frame);
      for (let frame = await client.next(isWanted); isRequest(frame); frame = await client.next(isWanted))
        await carryOut(frame);
    }

    /** Until the turn has ended; a call that had not started before the kill may still arrive. */
    async function served(): Promise<void> {
      for (;;) {
        const frame = await client.next((one) => isOver(one) || isRequest(one));
        if (isRequest(frame)) await carryOut(frame);
        else if (frame.type === 'error') return;
        else {
          const text = String(frame.content);
          return void ledger.shown.push({ session, dialect: 'extension', part: 'last step', text });
        }
      }
    }

    client.send({ id: 'barrier', type: 'ping', timestamp: Date.now() });
    const before = await client.until('pong');
    for (const request of before.filter(isRequest)) await carryOut(request);
    if (before.some(({ type }) => type === 'agent_status') && !before.some(isOver)) await served();
    while (!run.stopping) {
      const name = ledger.newEffect();
      const text = `open https://example.com/${name}`;
      const message = ledger.addMessage(conversation, { text, effect: name });
      const context = { server, token: run.token, conversation, ledger };
      await ledger.sending(message, () => {
        client.send(chat(session, text));
        return acknowledged(context, message, { started });
      });
      await served();
    }
    client.close();
    return true;
  });
}
