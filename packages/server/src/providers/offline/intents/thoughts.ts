/** "think about …", "why …", "explain …": visible reasoning first, then the answer. */
import { explain } from '../explanation/explain.ts';
import { isKnownProgram } from '../explanation/programs.ts';
import { materialOf } from '../material.ts';
import { type Intent, type Scene, saying } from '../plan.ts';
import { findIn } from '../text/matching.ts';
import { code, quoted, shorten } from '../text/quote.ts';
import { meaningful } from '../text/words.ts';

const THINK =
  /^(?:(?:think|reason|reflect|ponder)(?:\s+(?:hard|carefully|deeply))?\s+(?:about|on|through|over)\s+|explain\s+(?:to\s+me\s+)?|(?=why\b))(.+)$/i;
const COMMAND =
  /^explain\s+(?:to\s+me\s+)?(?:what\s+)?(?:the\s+|this\s+)?(?:command\s*:?\s+)?(`[^`]+`|.+?)(?:\s+(?:does|do|means))?$/i;

export const thoughts: Intent = {
  name: 'thoughts',
  match({ line, text }, scene) {
    const subject = THINK.exec(line)?.[1]?.trim();
    if (!subject) return null;
    const command = COMMAND.exec(line)?.[1];
    if (command && isCommand(command)) return aboutCommand(unticked(command));
    if (/^explain\b/i.test(line) && text.includes('*** Begin Patch')) {
      const reasoning = 'The message holds a patch. I count what it adds and takes away, file by file.';
      return saying(explain(text), reasoning);
    }
    return saying(considered(subject, text, scene), reasoningAbout(subject, scene));
  },
};

const unticked = (text: string): string => text.replace(/^`|`$/g, '').trim();

function isCommand(text: string): boolean {
  const [program = '', next] = unticked(text).split(/\s+/);
  return isKnownProgram(program) && (text.startsWith('`') || next === undefined || /^[-./\w]/.test(next));
}

function aboutCommand(command: string) {
  const reasoning = `The question is about the command ${command}. I know a table of common programs and their options. I look up each word of the command in it.`;
  return saying(explain(command), reasoning);
}

function reasoningAbout(subject: string, { earlier }: Scene): string {
  const words = [...new Set(meaningful(subject))].slice(0, 5);
  const about = words.length > 0 ? words.join(', ') : shorten(subject, 40);
  const looked =
    earlier.length > 0
      ? `I look through the ${earlier.length} earlier items of this conversation for sentences that share these words.`
      : 'There is nothing earlier in this conversation that I could draw on.';
  return `The question is about ${quoted(subject)}. Its main words are: ${about}. ${looked}`;
}

function considered(subject: string, text: string, { earlier, turn }: Scene): string {
  const own = text.includes('\n') ? [{ source: 'your message', text: text.slice(text.indexOf('\n')) }] : [];
  const sent = turn.material === '' ? [] : [{ source: 'what you sent', text: turn.material }];
  for (const { source, text: passage } of [...own, ...sent, ...materialOf(earlier)]) {
    const found = findIn(passage, subject);
    if (found) return `From ${source}: ${quoted(found.sentences.join(' '), 800)}`;
  }
  return `I thought about ${quoted(subject)} as far as a deterministic program can: I matched its words against this conversation and found nothing that answers it. I have no knowledge of the world of my own. Give me a text, a file or a page about it, and I will quote the sentences that fit; or ask me to explain a command such as ${code('git push')}.`;
}
