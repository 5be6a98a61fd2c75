/**
 * Browser tasks: a request in plain words becomes steps, and each step an action on the element with that name. Only the
 * request is followed; text of the page is untrusted.
 */
import type { Page } from '@parlance/copilot';
import { parseClause } from './parse-clause.ts';
import { normalised, splitsOf } from './request.ts';
import { type BrowserStep, nextAction } from './step.ts';

export type BrowserTask =
  | { readonly steps: readonly BrowserStep[] }
  | { readonly question: string; readonly missing: readonly string[] };

export const UNKNOWN: Page = { title: '', url: '', elements: [], shown: 0, text: '', truncated: false };
const MAX_STEPS = 10;
const FIRST_PARTS = 3;

/**
 * One to ten steps; or a question if something is unknown, missing on the page, or unspecified. Steps after a navigation are
 * not resolved on this page.
 */
export function planTask(query: string, page: Page): BrowserTask {
  const steps: BrowserStep[] = [];
  let rest = normalised(query);
  while (rest !== '') {
    const known = steps.some(({ effect }) => effect === 'leaves') ? UNKNOWN : page;
    const understood = (clause: string) => parseClause(normalised(clause), known) !== null;
    // "pepper into the field" does not begin a request, "submit and wait" does.
    const begins = (text: string) =>
      [
        text,
        ...splitsOf(text)
          .slice(0, FIRST_PARTS)
          .map(({ left }) => left),
      ].some(understood);
    const cut = splitsOf(rest).find(({ left, rest: more }) => understood(left) && begins(more));
    const clause = normalised(cut?.left ?? rest);
    const found = parseClause(clause, known);
    if (!found)
      return ask(`I do not know how to do “${clause}” on this page. What should I click, fill in or read?`, [
        clause,
      ]);
    if ('missing' in found)
      return ask(`Please tell me the ${found.missing.join(' and the ')}.`, found.missing);
    steps.push(...found);
    if (steps.length > MAX_STEPS)
      return ask('That is more than ten steps. Which should I do first?', ['fewer steps']);
    rest = cut ? normalised(cut.rest) : '';
  }
  if (steps.length === 0) return ask('What should I do on this page?', ['a task']);
  return missingFrom(steps, page) ?? { steps };
}

const ask = (question: string, missing: readonly string[]): BrowserTask => ({ question, missing });

/** The steps up to the first that changes the page can be resolved now. */
function missingFrom(steps: readonly BrowserStep[], page: Page): BrowserTask | null {
  for (const step of steps) {
    if (step.reads && page.textMissing === 'onRequest') continue;
    const next = nextAction(step, page);
    // The state of a form after filling it is unknown: a button may still be disabled.
    const blocked = 'missing' in next && /is disabled\.$/.test(next.missing) && steps.length > 1;
    if ('missing' in next && !blocked) return ask(questionOf(next.missing), [next.missing]);
    if (step.effect) return null;
  }
  return null;
}

function questionOf(missing: string): string {
  if (missing.endsWith('.')) return `${missing} What should I do instead?`;
  if (missing.startsWith('which ')) return `I need to know ${missing}.`;
  return `I cannot find ${missing} on this page. What should I do instead?`;
}
