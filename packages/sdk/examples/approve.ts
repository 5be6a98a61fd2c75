// Looks at everything that waits for a person, in all sessions, and allows what only reads.
import { connect, ParlanceError } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const HARMLESS = new Set(['ls', 'cat']);

for (const { id, session, ask, hash } of await parlance.approvals.list()) {
  const harmless = ask.kind === 'command' && HARMLESS.has(ask.command[0] ?? '');
  try {
    // The hash binds the answer to what was shown here: anything else is refused.
    await parlance.approvals.answer(id, {
      answer: harmless ? 'once' : 'deny',
      reason: 'Not by night.',
      hash,
    });
    console.log(`${session}: ${ask.command.join(' ')}: ${harmless ? 'allowed' : 'denied'}`);
  } catch (error) {
    if (!(error instanceof ParlanceError && error.code === 'no_approval')) throw error;
    console.log(`${session}: someone was faster`);
  }
}
