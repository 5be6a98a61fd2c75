// A chat in the terminal that asks before a tool runs. Start it again with the same name to continue the session, also in
// the middle of an answer or of a question.
import { createInterface } from 'node:readline/promises';
import { connect, EMPTY, type FollowOptions, foldAll, ParlanceError } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session(process.argv[2] ?? 'terminal');
const terminal = createInterface({ input: process.stdin, output: process.stdout });

const options: FollowOptions = {
  onText: (text) => process.stdout.write(text),
  async onApproval({ ask }, { signal }) {
    const reply = await terminal.question(`Allow ${ask.command.join(' ')}? (y/n) `, { signal });
    return reply === 'y' ? 'once' : 'deny';
  },
};

// What has been said so far.
await session.create();
const events = await Array.fromAsync(session.history());
for (const entry of foldAll(EMPTY, events).entries) {
  if (entry.kind !== 'turn' || entry.state.status === 'running') continue;
  for (const part of entry.input?.parts ?? []) if (part.type === 'text') console.log(`> ${part.text}`);
  for (const item of entry.items) if (item.kind === 'text') console.log(item.text);
}

// The turn that is running, if any, and then one for each line.
await session.resume(options);
for (;;) {
  const line = await terminal.question('\n> ');
  if (line === '') break;
  try {
    await session.ask(line, options);
  } catch (error) {
    if (!(error instanceof ParlanceError)) throw error;
    console.log(error.message);
  }
}
terminal.close();
