// Steers a turn: a message sent while it waits for an approval joins it, and the model reads it with its next step.
import { connect } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session();

const { text } = await session.ask('run touch steered.txt', {
  async onApproval() {
    await session.submit('Answer in one sentence', { mode: 'steer' });
    return 'once' as const;
  },
  onEvent(event) {
    if (event.type === 'input.joined') console.log('The message has joined the turn.');
  },
});
console.log(text);
