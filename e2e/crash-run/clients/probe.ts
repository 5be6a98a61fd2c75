/**
 * A client that never waits: it sends one message over the native API as soon as a server listens. Other
 * clients first let the running turn end, so without this one the recovery time would include their waiting.
 * Then it reads the session, at the next node if there are several.
 */
import { type RunContext, retryAfterKills } from '../client.ts';
import { readSession, submitKeyed } from './native.ts';

const MESSAGES = 20;
const PAUSE_MS = 1_000;

export async function probing(run: RunContext): Promise<void> {
  const { ledger, victim } = run;
  for (let count = 1; !run.stopping; count++) {
    const conversation = ledger.begin('native', `probe-${count}`);
    for (let number = 1; number <= MESSAGES && !run.stopping; number++) {
      const message = ledger.addMessage(conversation, { text: `echo message ${number}` });
      let life = 0;
      await retryAfterKills('probe', run, async (server) => {
        life = (await victim.up()).number;
        await submitKeyed(server, message, ledger);
        return true;
      });
      await retryAfterKills('probe', run, async (server) => {
        await readSession(server, { process: 'probe', session: conversation.id }, ledger);
        return true;
      });
      await victim.over(life, PAUSE_MS);
    }
  }
}
