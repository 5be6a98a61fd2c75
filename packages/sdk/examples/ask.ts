// The simplest call: sends a message, and prints the answer when it is complete.
import { connect } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session(); // a new session; pass a name to return to it
const { text } = await session.ask(process.argv[2] ?? 'count to 20', {
  onApproval: ({ ask }) => (ask.kind === 'edit' ? 'once' : 'deny'),
});
console.log(text);
