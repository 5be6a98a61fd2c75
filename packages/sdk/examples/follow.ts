// Follows the events of a session.
import { connect } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session();
await session.submit(process.argv[2] ?? 'count to 20');

for await (const event of session.events()) {
  if (event.type === 'text.delta') process.stdout.write(event.text);
  if (event.type === 'turn.failed') console.error(event.fault.message);
  if (event.type === 'turn.ended' || event.type === 'turn.failed') break;
}
