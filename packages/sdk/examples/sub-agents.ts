// Shows what sub-agents have done, and their sessions.
import { connect, subAgentsOf } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session();

// Here a person calls the tool; usually the model does.
const input = { action: 'spawn', agent: 'worker', task: 'count to 3', name: 'counter' };
const { turn } = await session.ask([], { call: { tool: 'agent', input } });

// While a turn runs, the view of `session.live()` tells what each does.
for (const { session: id, path, status } of subAgentsOf({ entries: [turn], queued: [] })) {
  const { title, parent } = await parlance.session(id).get();
  console.log(path.join(' › '), status, title, parent === session.id);
}
