// Plain JavaScript: lists all sessions with the tokens that they used.
import { connect, EMPTY, foldAll } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
for await (const { id, title } of parlance.sessions.all()) {
  const events = [];
  for await (const event of parlance.session(id).history()) events.push(event);
  const { usage } = foldAll(EMPTY, events);
  console.log(`${title || id}: ${usage.inputTokens + usage.outputTokens} tokens`);
}
