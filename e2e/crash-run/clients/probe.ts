/**
 * A client that never waits: it sends one message over the native API as soon as a server listens. Other
 * clients first let the running turn end, so without this one the recovery time would include their waiting.
 */
import { throughKills, type World } from '../client.ts';
import { submitKeyed } from './native.ts';

const MESSAGES = 20;
const PAUSE_MS = 1_000;

export async function probing(world: World): Promise<void> {
  const { ledger, victim } = world;
  for (let count = 1; !world.stopping; count++) {
    const conversation = ledger.begin('native', `probe-${count}`);
    for (let number = 1; number <= MESSAGES && !world.stopping; number++) {
      const message = ledger.says(conversation, { text: `echo message ${number}` });
      let life = 0;
      await throughKills('probe', world, async (server) => {
        life = (await victim.up()).number;
        await submitKeyed(server, message, ledger);
        return true;
      });
      await victim.over(life, PAUSE_MS);
    }
  }
}
