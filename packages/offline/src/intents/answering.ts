/** Messages that are answered with text alone. The last one answers everything. */
import { knownName, nameIn } from '../digest.ts';
import { explain, isKnownProgram } from '../explanation.ts';
import { answerPlan, firstMatch, type Intent, type Plan, type PlanContext } from '../plan.ts';
import { code, quoted, shorten, summarise } from '../text.ts';
import type { UserMessage } from '../user-message.ts';
import { demonstrations } from './demonstrations.ts';
import { help, IDENTITY } from './help.ts';

const HELLO = /^(?:hello|hi|hey)(?:\s+(?:there|again|parlance|agent|all))*$/i;
const WHO = /^who\s+are\s+you$|^are\s+you\s+an?\s+.*$/i;

const greetings: Intent = ({ line, whole }) => {
  if (HELLO.test(whole)) return answerPlan(`Hello! ${IDENTITY}`);
  return WHO.test(line) ? answerPlan(IDENTITY) : null;
};

const memory: Intent = ({ line }, { earlier }) => {
  if (/^what(?:'s|\s+is)\s+my\s+name$/i.test(line)) {
    const known = knownName(earlier);
    return answerPlan(
      known ? `Your name is ${known}.` : 'You have not told me your name in this conversation.',
    );
  }
  const name = /^(?:my name is|call me)\b/i.test(line) ? nameIn(line) : null;
  return name
    ? answerPlan(`Nice to meet you, ${name}. I know your name as long as it is part of this conversation.`)
    : null;
};

const summaries: Intent = ({ text }) => {
  const given = /^summari[sz]e(?:\s+this)?\s*[:\n]\s*([\s\S]+)$/i.exec(text)?.[1];
  return given ? answerPlan(summarise(given)) : null;
};

const THINK = /^(?:think\s+about\s+|explain\s+|(?=why\b))(.+)$/i;

/** Visible reasoning first, then the answer. */
const thoughts: Intent = ({ line }) => {
  const subject = THINK.exec(line)?.[1]?.trim();
  if (!subject) return null;
  const command = subject.replace(/^`|`$/g, '').trim();
  if (/^explain\b/i.test(line) && isKnownProgram(command)) {
    const reasoning = `The question is about the command ${command}. I know a table of common programs. I look up each part of the command in it.`;
    return answerPlan(explain(command), reasoning);
  }
  return answerPlan(
    `I thought about ${quoted(subject)} as far as a deterministic program can: I have no knowledge of the world. Ask me to explain a command such as ${code('git push')}.`,
    `The question is about ${quoted(subject)}. I look for a rule that fits ${shorten(subject, 40)}. There is none, so I can only say that.`,
  );
};

function fallback({ turn, earlier }: PlanContext): Plan {
  const text = turn.request.trim();
  if (text === '')
    return answerPlan('Your message has no text that I could answer. Say “help” to see what I understand.');
  const count = earlier.filter(({ kind }) => kind === 'user' || kind === 'text').length + 1;
  return answerPlan(
    `You wrote ${quoted(text)}. I am Parlance's offline model, a program rather than a language model, and I have no rule for that. This is message ${count} of our conversation. I can run commands, read and change files, search and use a connected browser: try “run git status” or “help”.`,
  );
}

export const answerTo = (message: UserMessage, context: PlanContext): Plan =>
  firstMatch([help, greetings, memory, demonstrations, summaries, thoughts], message, context) ??
  fallback(context);
