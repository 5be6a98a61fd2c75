// Plain JavaScript for Node, with the bundle: `npm run build -w @parlance/sdk` makes it.
import { connect, EMPTY, foldAll } from '@parlance/sdk/bundle';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
for await (const { id, title } of parlance.sessions.all()) {
  const facts = [];
  for await (const fact of parlance.session(id).history()) facts.push(fact);
  const { usage } = foldAll(EMPTY, facts);
  console.log(`${title || id}: ${usage.inputTokens + usage.outputTokens} tokens`);
}
