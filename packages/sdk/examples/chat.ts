// A chat in the terminal: prints the view of a session when its turn is over.
import { connect, type SessionView } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session(process.argv[2] ?? 'chat');
await session.submit(process.argv[3] ?? 'Hello');

function draw(view: SessionView): string {
  const lines = [`${view.title} (${view.status})`];
  for (const entry of view.entries) {
    if (entry.kind !== 'turn') continue;
    for (const part of entry.input?.parts ?? []) if (part.type === 'text') lines.push(`> ${part.text}`);
    for (const item of entry.items) {
      if (item.kind === 'text') lines.push(item.text);
      if (item.kind === 'call') lines.push(`[${item.tool}: ${item.state.phase}]`);
    }
  }
  if (view.pending) lines.push(`Approval needed: ${view.pending.ask.description}`);
  return lines.join('\n');
}

const live = session.live();
live.subscribe(() => {
  const connection = live.connection();
  if (connection.status === 'waiting') console.log(`offline: ${connection.fault.message}`);
  if (connection.status === 'live' && live.view().status !== 'running') live.close();
});
await live.closed;
console.log(draw(live.view()));
