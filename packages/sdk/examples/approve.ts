// Answers the pending approvals of all sessions: allows read-only commands and denies the rest.
import { connect, ParlanceError } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const HARMLESS = new Set(['ls', 'cat']);

for (const { id, session, ask, hash } of await parlance.approvals.list()) {
  const harmless = ask.kind === 'command' && HARMLESS.has(ask.command[0] ?? '');
  try {
    // The hash binds the answer to what was shown.
    await parlance.approvals.answer(id, {
      answer: harmless ? 'once' : 'deny',
      reason: 'Only read-only commands are allowed.',
      hash,
    });
    console.log(`${session}: ${ask.command.join(' ')}: ${harmless ? 'allowed' : 'denied'}`);
  } catch (error) {
    if (!(error instanceof ParlanceError && error.code === 'no_approval')) throw error;
    console.log(`${session}: already answered`);
  }
}
