/**
 * Browser tasks without a model: a request in plain words becomes steps, and each step an action on the element with that
 * name. Only the request is followed; text of the page is untrusted.
 */
import { changesPage, type Intent, leavesPage, needsText } from './offline/intent.ts';
import { byName, byWords, recognise } from './offline/recognise.ts';
import { bare, cutsOf } from './offline/request.ts';
import { nextAction } from './offline/resolve.ts';
import { type PlannedStep, stepOf, UNKNOWN } from './offline/step.ts';
import { elementOf, type Page } from './page/page.ts';

export { type Intent, needsText } from './offline/intent.ts';
export { type Next, nextAction } from './offline/resolve.ts';
export type { PlannedStep } from './offline/step.ts';

export type PlannedTask =
  | { readonly steps: readonly PlannedStep[] }
  | { readonly question: string; readonly missing: readonly string[] };

const MOST_STEPS = 10;
const FIRST_PARTS = 3;

/**
 * One to ten steps; or a question if something is unknown, missing on the page, or unspecified. Steps after a navigation are
 * not resolved on this page.
 */
export function planTask(query: string, page: Page): PlannedTask {
  const intents: Intent[] = [];
  let rest = bare(query);
  while (rest !== '') {
    const known = intents.some(leavesPage) ? UNKNOWN : page;
    const cut = cutsOf(rest).find(({ left, rest: more }) => understood(left, known) && begins(more, known));
    const clause = bare(cut?.left ?? rest);
    const found = recognise(clause, known);
    if (!found)
      return ask(`I do not know how to do “${clause}” on this page. What should I click, fill in or read?`, [
        clause,
      ]);
    if ('missing' in found)
      return ask(`Please tell me the ${found.missing.join(' and the ')}.`, found.missing);
    intents.push(...found.intents);
    if (intents.length > MOST_STEPS)
      return ask('That is more than ten steps. Which should I do first?', ['fewer steps']);
    rest = cut ? bare(cut.rest) : '';
  }
  if (intents.length === 0) return ask('What should I do on this page?', ['a task']);
  const steps = opened(intents, page);
  return missingFrom(steps, page) ?? { steps: steps.map(stepOf) };
}

const ask = (question: string, missing: readonly string[]): PlannedTask => ({ question, missing });

const understood = (clause: string, page: Page): boolean => recognise(bare(clause), page) !== null;

/**
 * Whether a first part is a request: "pepper into the field" is none, "submit and wait" is. Without a verb it needs three words
 * that name an element of the page, so that "cats and dogs" stays together.
 */
const begins = (text: string, page: Page): boolean =>
  [
    text,
    ...cutsOf(text)
      .slice(0, FIRST_PARTS)
      .map(({ left }) => left),
  ]
    .map(bare)
    .some((clause) => {
      if (byWords(clause, page)) return true;
      return clause.split(' ').length > 2 && byName(clause, page) !== null;
    });

/** A click on an option of a select is a selection. A list that shows its options only when open is opened first. */
function opened(intents: readonly Intent[], page: Page): Intent[] {
  const first = intents.findIndex(changesPage);
  return intents.flatMap((intent, index): Intent[] => {
    if (intent.kind === 'click' || intent.kind === 'doubleClick')
      return [index <= first ? asChoice(intent, page) : intent];
    const next = intent.kind === 'choose' && intent.target !== null ? nextAction(intent, page) : null;
    const role =
      next && 'action' in next && next.action.name === 'click' && elementOf(page, next.action.id)?.role;
    if (intent.kind !== 'choose' || intent.target === null) return [intent];
    return role === 'combobox' || role === 'listbox'
      ? [{ kind: 'click', target: intent.target }, intent]
      : [intent];
  });
}

function asChoice(intent: Extract<Intent, { target: string }>, page: Page): Intent {
  const next = nextAction(intent, page);
  if (!('action' in next) || next.action.name !== 'selectDropdown') return intent;
  const { id, value } = next.action;
  const list = elementOf(page, id);
  const option = list?.options?.find((each) => each.value === value)?.text ?? value;
  return { kind: 'choose', target: list?.name || null, option };
}

/** The steps up to the first that changes the page can be resolved now. */
function missingFrom(intents: readonly Intent[], page: Page): PlannedTask | null {
  for (const intent of intents) {
    if (needsText(intent) && page.textMissing === 'onRequest') continue;
    const next = nextAction(intent, page);
    // The state of a form after filling it is unknown: a button may still be disabled.
    const blocked = 'missing' in next && /is disabled\.$/.test(next.missing) && intents.length > 1;
    if ('missing' in next && !blocked) return ask(questionOf(next.missing), [next.missing]);
    if (changesPage(intent)) return null;
  }
  return null;
}

function questionOf(missing: string): string {
  if (missing.endsWith('.')) return `${missing} What should I do instead?`;
  if (missing.startsWith('which ')) return `I need to know ${missing}.`;
  return `I cannot find ${missing} on this page. What should I do instead?`;
}
