/** Splits a message with several requests: "… and …", "… then …", "… at the same time …". */
import type { Act, Intent, Plan, Scene, Step } from './plan.ts';
import { listen, type Utterance } from './utterance.ts';

const CONNECTOR =
  /(?:,\s*|\s+)(?:(and\s+at\s+the\s+same\s+time|while)|(and\s+then|then|after\s+that)|(and\s+also|and))\s+|\s+(?:and\s+)?(at\s+the\s+same\s+time|in\s+parallel)$/gi;
const MOST_STEPS = 20;

type Link = 'with' | 'then' | 'and';

/** Null if the message requests no action. Splits only if both sides are actions. */
export function planActions(utterance: Utterance, actions: readonly Intent[], scene: Scene): Plan | null {
  const { line } = utterance;
  const recognise = (clause: Utterance) => firstMatch(actions, clause, scene);
  if (!utterance.single || line === '') return recognise(utterance)?.plan ?? null;

  let steps: Step[] = [];
  let rest = line;
  let clauses = 0;
  let link: Link = 'and';
  let reasoning: string | undefined;
  const togetherAll = /\s(?:and\s+)?(?:at\s+the\s+same\s+time|in\s+parallel)$/i.test(line);
  if (togetherAll) rest = line.replace(/\s+(?:and\s+)?(?:at\s+the\s+same\s+time|in\s+parallel)$/i, '');
  for (;;) {
    const cut = steps.length < MOST_STEPS ? firstCut(rest, recognise) : null;
    const found = cut?.plan ?? recognise(rest === line ? utterance : listen(rest))?.plan;
    if (!found) {
      if (steps.length === 0) return null;
      steps = [...steps, notUnderstood(rest)];
      reasoning = reasoningOf(steps);
      break;
    }
    steps = linked(steps, found.steps, togetherAll && steps.length > 0 ? 'with' : link);
    reasoning = clauses++ === 0 ? found.reasoning : reasoningOf(steps);
    if (!cut) break;
    rest = cut.rest;
    link = cut.link;
  }
  return { reasoning, steps };
}

export function firstMatch(intents: readonly Intent[], utterance: Utterance, scene: Scene) {
  for (const intent of intents) {
    const plan = intent.match(utterance, scene);
    if (plan) return { intent, plan };
  }
  return null;
}

type Recognise = (clause: Utterance) => { intent: Intent; plan: Plan } | null;

/** The first position at which an action ends and another begins. */
function firstCut(text: string, recognise: Recognise) {
  const open = withoutQuoted(text);
  for (const match of open.matchAll(CONNECTOR)) {
    const rest = text.slice(match.index + match[0].length);
    if (rest === '') continue;
    const left = recognise(listen(text.slice(0, match.index)));
    if (!left) continue;
    const link: Link = match[1] ? 'with' : match[2] ? 'then' : 'and';
    // A command does not contain the word "then"; the text of a file or a search may.
    const plain = left.intent.name === 'shell' && link !== 'and';
    if (plain || startsAction(rest, recognise)) return { plan: left.plan, rest, link };
  }
  return null;
}

function startsAction(rest: string, recognise: Recognise): boolean {
  if (recognise(listen(rest))) return true;
  for (const match of withoutQuoted(rest).matchAll(CONNECTOR)) {
    if (recognise(listen(rest.slice(0, match.index)))) return true;
  }
  return false;
}

/** Same length, with quoted text masked. An apostrophe inside a word is not a quote. */
const withoutQuoted = (text: string): string =>
  text.replace(/`[^`]*`|"[^"]*"|“[^”]*”|(?<=^|\s)'[^']*'(?=\s|$)/g, (span) => '\u0000'.repeat(span.length));

function linked(before: readonly Step[], more: readonly Step[], link: Link): Step[] {
  const last = before.at(-1);
  const [first, ...others] = more;
  if (!last || !first) return [...before, ...more];
  if (link === 'with') return [...before.slice(0, -1), together(last, first), ...others];
  const dependent = link === 'then' || first.dependent;
  return [...before, { ...first, dependent }, ...others];
}

/** In parallel if both are calls; otherwise sequential. */
function together(one: Step, other: Step): Step {
  const act = (...args: Parameters<Step['act']>): Act => {
    const acts = [one.act(...args), other.act(...args)];
    const deeds = acts.flatMap((each) => ('deeds' in each ? each.deeds : []));
    return deeds.length > 0
      ? { deeds }
      : { say: acts.map((each) => ('say' in each ? each.say : '')).join('\n\n') };
  };
  return { title: `${one.title} and at the same time ${other.title}`, act, dependent: one.dependent };
}

const notUnderstood = (rest: string): Step => ({
  title: rest,
  act: () => ({ say: `I do not know how to do “${rest}”, so I left that out.` }),
  dependent: true,
});

function reasoningOf(steps: readonly Step[]): string {
  const list = steps.map(({ title }, index) => `(${index + 1}) ${title}`).join(', ');
  return `The message asks for ${steps.length} steps: ${list}. I take them one after another. I look at each result before I go on.`;
}
