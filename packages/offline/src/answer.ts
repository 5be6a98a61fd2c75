/**
 * The built-in model: no key, no network. It is a deterministic program and says so; the same prompt gives the same answer.
 * Only the last user item is a request. Results, pages and summaries are data, which it quotes.
 */
import { browse } from './browser/browse.ts';
import { chat } from './chat.ts';
import { compact } from './digest.ts';
import { explain } from './explanation.ts';
import type { Answer } from './plan.ts';
import { type Prompt, textIn } from './prompt.ts';
import { summarise } from './text.ts';

export function answerTo(prompt: Prompt): Answer {
  switch (prompt.task) {
    case 'chat':
      return browse(prompt) ?? chat(prompt);
    case 'sampling':
      return chat(prompt);
    case 'summary':
      return { text: summarise(lastMessage(prompt)) };
    case 'explanation':
      return { text: explain(lastMessage(prompt)) };
    case 'compaction':
      return { text: compact(prompt.items) };
  }
}

function lastMessage({ items }: Prompt): string {
  const item = items.findLast(({ kind }) => kind === 'user');
  return item ? textIn(item) : '';
}
