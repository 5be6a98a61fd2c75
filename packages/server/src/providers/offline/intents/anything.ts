/** Fallback: says what was received and what is supported. */
import { type Plan, type Scene, saying } from '../plan.ts';
import { quoted } from '../text/quote.ts';

export function anything({ turn, earlier }: Scene): Plan {
  const text = turn.request.trim();
  if (text === '') {
    if (turn.attachments.length > 0)
      return saying('There was no text with it. Tell me what you would like to do.');
    return saying(
      'Your message is empty, so there is nothing that I could answer. Say “help” to see what I understand.',
    );
  }
  const count = earlier.filter(({ kind }) => kind === 'user' || kind === 'text').length + 1;
  const messages = count === 1 ? 'This is the first message' : `This is message ${count}`;
  return saying(
    `You wrote ${quoted(text)}. I am Parlance's offline model, a program rather than a language model, and I have no rule for that. ${messages} of our conversation. I can run commands, read and change files, search, use a connected browser and summarise text: try “run git status” or “help”.`,
  );
}
