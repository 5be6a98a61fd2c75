/** One answer in a conversation. Stateless: everything is read from the prompt. */
import type { Part } from '@parlance/protocol';
import { ACTIONS } from './intents/actions.ts';
import { answerTo } from './intents/answering.ts';
import { shell } from './intents/shell.ts';
import { type Answer, firstMatch, type Plan, type PlanContext, type Step, type StepOutput } from './plan.ts';
import { nextAnswer } from './planner.ts';
import { currentTurn, type Prompt } from './prompt.ts';
import { code } from './text.ts';
import { parseMessage, type UserMessage } from './user-message.ts';

export function chat({ items, tools }: Prompt): Answer {
  const turn = currentTurn(items);
  const context: PlanContext = {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    turn,
    earlier: items.slice(0, turn.start),
  };
  const message = parseMessage(turn.request);
  const answer = nextAnswer(planActions(message, context) ?? answerTo(message, context), context);
  if (turn.attachments.length === 0 || turn.calls.length > 0) return answer;
  return { ...answer, text: `${received(turn.attachments)}\n\n${answer.text}` };
}

function received(attachments: readonly Part[]): string {
  const names = attachments.map((part) => (part.type === 'file' ? code(part.name, 60) : 'an image'));
  return `I received ${names.join(', ')}, but I cannot see what is inside: I read only text.`;
}

// Splits a message with several requests: "… and …", "… then …", "… and at the same time …".

const CONNECTOR = /(?:,\s*|\s+)(?:(and\s+at\s+the\s+same\s+time)|((?:and\s+)?then)|and)\s+/gi;
const MAX_CONNECTORS = 20;

/** Null if the message requests no action. Splits only if both sides are actions. */
function planActions(message: UserMessage, context: PlanContext): Plan | null {
  const match = (clause: UserMessage) => firstMatch(ACTIONS, clause, context);
  const connectors = [...withoutQuoted(message.line).matchAll(CONNECTOR)];
  if (!message.single || connectors.length === 0 || connectors.length > MAX_CONNECTORS) return match(message);
  const known = new Map<string, Plan | null>();
  const planOf = (text: string): Plan | null => {
    const plan = known.get(text) ?? split(text) ?? match(parseMessage(text));
    known.set(text, plan);
    return plan;
  };
  const split = (text: string): Plan | null => {
    for (const connector of withoutQuoted(text).matchAll(CONNECTOR)) {
      const left = parseMessage(text.slice(0, connector.index));
      const plan = match(left);
      const rest = text.slice(connector.index + connector[0].length);
      // A command does not contain the word "then"; the text of a file or a search may.
      const isCommand = connector[2] !== undefined && shell(left, context) !== null;
      const next = plan && (planOf(rest) ?? (isCommand ? notUnderstood(rest) : null));
      if (plan && next) return linked(plan, next, connector);
    }
    return null;
  };
  return planOf(message.line);
}

/** Same length, with quoted text masked. An apostrophe inside a word is not a quote. */
const withoutQuoted = (text: string): string =>
  text.replace(/`[^`]*`|"[^"]*"|“[^”]*”|(?<=^|\s)'[^']*'(?=\s|$)/g, (span) => '\u0000'.repeat(span.length));

function linked({ steps: before }: Plan, { steps: after }: Plan, [, together, then]: RegExpMatchArray): Plan {
  const [last, first] = [before.at(-1), after[0]];
  const steps =
    together && last && first
      ? [...before.slice(0, -1), parallel(last, first), ...after.slice(1)]
      : [
          ...before,
          ...after.map((step, index) => (then && index === 0 ? { ...step, dependent: true } : step)),
        ];
  const list = steps.map(({ title }, index) => `(${index + 1}) ${title}`).join(', ');
  return {
    steps,
    reasoning: `The message asks for several steps: ${list}. I look at each result before I go on.`,
  };
}

function parallel(one: Step, other: Step): Step {
  const run = (...args: Parameters<Step['run']>): StepOutput => ({
    calls: [one, other].flatMap((step) => {
      const output = step.run(...args);
      return 'calls' in output ? output.calls : [];
    }),
  });
  return { title: `${one.title} and at the same time ${other.title}`, run, dependent: one.dependent };
}

const notUnderstood = (rest: string): Plan => ({
  steps: [{ title: rest, run: () => ({ text: `I do not know how to do “${rest}”, so I left that out.` }) }],
});
