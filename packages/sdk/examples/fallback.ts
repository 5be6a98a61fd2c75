// Shows which model has answered, and which ones were passed over, on a server whose model is a chain.
import { connect } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session();

const { text, turn } = await session.ask('Hello');
for await (const event of session.history()) {
  if (event.type !== 'step.restarted' || !event.fallback) continue;
  const { model, passed } = event.fallback;
  for (const one of passed) console.log(`${one.model} was passed over: ${one.reason}`);
  console.log(`${model} answers instead: ${event.fault.message}`);
}
console.log(`${turn.fallback ?? 'The first model'}: ${text}`);
