/**
 * Browser tasks: a request in plain words becomes steps, and each step an action on the element with that name. Only the
 * request is followed; text of the page is untrusted.
 */
import { findElements, hasMoreOptions, isSelect, type Page } from '@parlance/copilot';
import { isQuestion } from './questions.ts';

import { type BrowserStep, nextAction } from './step.ts';
import * as step from './steps.ts';

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

// Parses one clause of a request into steps. Uses the page only if the words alone are ambiguous.

/** The steps of a clause, what is missing for them, or null if it is not understood. */
type ParsedClause = readonly BrowserStep[] | { readonly missing: readonly string[] } | null;

type Rule = readonly [pattern: RegExp, read: (found: readonly string[], page: Page) => ParsedClause];

const name = (text: string | undefined): string =>
  unquoted((text ?? '').replace(/^(?:the|a|an)\s+(?=["“'‘`«])/i, ''));

const MAX_CLAUSE_LENGTH = 1_000;

const RULES: readonly Rule[] = [
  [
    /^(?:log|sign)\s*in(?:\s+(?:as|with|using)\s+(?:(?:user(?:name)?|name|email)\s+)?(\S+|"[^"]+"))?(?:(?:\s+(?:and|with|using)|\s*,)?\s+(?:the\s+)?password\s*:?\s+(.+))?$/is,
    ([user, password]) => login(user, password),
  ],
  [
    /^double[\s-]?click(?:\s+on)?\s+(.+)$/i,
    ([target], page) => [step.click(name(target), page, 'doubleClick')],
  ],
  [/^hover(?:\s+over|\s+on)?\s+(.+)$/i, ([target]) => [step.hover(name(target))]],
  [/^drag\s+(.+?)\s+(?:on)?to\s+(.+)$/i, ([target, onto]) => [step.drag(name(target), name(onto))]],
  [/^press\s+(?:the\s+)?([a-z]+)(?:\s+key)?$/i, ([key = '']) => pressed(key)],
  [/^go\s+back$/i, () => [step.goBack]],
  [/^(?:reload|refresh)(?:\s+(?:the|this)\s+page)?$/i, () => [step.reload]],
  [
    /^scroll(?:\s+to\s+the)?(?:\s+(up|down|top|bottom))?(?:\s+of\s+the\s+page)?$/i,
    ([where = 'down']) => [step.scroll(where.toLowerCase())],
  ],
  [
    /^wait(?:\s+(?:for\s+)?(\d+(?:\.\d+)?)\s*(?:s|seconds?)?)?$/i,
    ([time = '2']) => [step.wait(Math.min(60, Number(time)))],
  ],
  [/^(?:accept|confirm)\s+(?:the\s+)?(?:dialog|alert|prompt)$/i, () => [step.acceptDialog]],
  [/^(?:dismiss|cancel)\s+(?:the\s+)?(?:dialog|alert|prompt)$/i, () => [step.dismissDialog]],
  [/^close\s+(?:the\s+|this\s+)?(?:dialog|modal|pop-?up|banner|message)$/i, () => [step.closeDialog]],
  [/^open\s+(\S+)\s+in\s+a\s+new\s+tab$/i, ([where]) => addressed(where, step.newTab)],
  [
    /^(?:go\s+)?(?:to\s+)?(?:the\s+)?(next|previous)\s+page$/i,
    ([to]) => [step.turnPage(/^n/i.test(to ?? '') ? 'next' : 'previous')],
  ],
  [/^(?:go\s+to|open|visit|navigate\s+to)\s+(\S+)$/i, ([where]) => addressed(where, step.visit)],
  [/^search\s+the\s+web\s+for\s+(.+)$/i, ([text]) => [step.webSearch(name(text))]],
  [
    /^search\s+for\s+(.+?)(?:\s+(?:on|in)\s+(?:this|the)\s+(?:site|page|shop))?$/is,
    ([text], page) => step.search(name(text), page),
  ],
  [
    /^(?:type|enter|write|put)\s+("[^"]*"|“[^”]*”|'[^']*'|.+)\s+(?:into|in|to)\s+(.+)$/is,
    ([text, target]) => [step.fill(name(target), name(text))],
  ],
  [
    /^(?:type|enter|write|put)\s+(.+?)\s+as\s+((?:the|my|your)\s+.+)$/is,
    ([text, target]) => [step.fill(name(target), name(text))],
  ],
  [/^(?:type|enter|write)\s+(?!in\b)(.+)$/is, ([text]) => [step.fill(null, name(text))]],
  [
    /^(?:set|change|fill(?:\s+in)?)\s+(.+?)\s+(?:to|with)\s+(.+)$/is,
    ([target, text]) => [step.fill(name(target), name(text))],
  ],
  [
    /^(?:select|choose|pick)\s+("[^"]*"|“[^”]*”|.+?)\s+(?:from|in|for)\s+(.+)$/is,
    ([option, target]) => [step.choose(name(target), name(option))],
  ],
  [/^(?:uncheck|untick|turn\s+off)\s+(.+)$/i, ([target]) => [step.tick(name(target), false)]],
  [/^(?:check|tick|turn\s+on)\s+(.+)$/i, ([target]) => [step.tick(name(target), true)]],
  [/^submit(?:\s+(?:it|(?:the|this)\s+form))?$/i, () => [step.submit]],
  [/^(?:select|choose|pick)\s+(.+)$/i, ([option], page) => picked(name(option), page)],
  [/^(?:click|tap|press)(?:\s+on)?\s+(.+)$/is, ([target], page) => [step.click(name(target), page)]],
  [/^(?:open|go\s+to|visit|show|switch\s+to)\s+(.+)$/i, ([target], page) => opened(name(target), page)],
];

function parseClause(clause: string, page: Page): ParsedClause {
  if (clause.length > MAX_CLAUSE_LENGTH) return null;
  for (const [pattern, read] of RULES) {
    const match = pattern.exec(clause);
    const found = match && read(match.slice(1), page);
    if (found) return found;
  }
  return isQuestion(clause) ? [step.answer(clause)] : null;
}

function login(user: string | undefined, password: string | undefined): ParsedClause {
  const missing = [...(user ? [] : ['user name']), ...(password ? [] : ['password'])];
  return missing.length > 0 ? { missing } : step.login(name(user), name(password));
}

const KEYS = ['Enter', 'Tab', 'Escape', 'Backspace', 'Delete', 'Space', 'Home', 'End', 'PageUp', 'PageDown'];

function pressed(text: string): ParsedClause {
  const key = KEYS.find((each) => each.toLowerCase() === text.toLowerCase());
  return key ? [step.press(key)] : null;
}

const SITES = new Map([
  ['google', 'https://www.google.com/'],
  ['wikipedia', 'https://www.wikipedia.org/'],
  ['github', 'https://github.com/'],
]);
const DOMAIN = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,24}(?::\d{1,5})?(?:[/?#]\S*)?$/u;
const LOCAL = /^(?:localhost|127\.0\.0\.1)(?::\d{1,5})?(?:\/\S*)?$/i;

function addressed(target: string | undefined, make: (url: string) => BrowserStep): ParsedClause {
  const text = unquoted(target ?? '');
  const scheme = /^https?:\/\//i.test(text)
    ? ''
    : LOCAL.test(text)
      ? 'http://'
      : DOMAIN.test(text)
        ? 'https://'
        : null;
  const url = scheme === null ? null : URL.parse(`${scheme}${text}`)?.href;
  return url ? [make(url)] : null;
}

/** An element of the page takes precedence over a site with that name. */
function opened(target: string, page: Page): ParsedClause {
  const site = SITES.get(target.toLowerCase());
  const best = findElements(page, target)[0]?.score ?? 0;
  return [site && best < 0.9 ? step.visit(site) : step.click(target, page)];
}

/** "select Blue": an option of some list, or else an element to click. */
function picked(option: string, page: Page): ParsedClause {
  const wanted = option.toLowerCase();
  const listed = page.elements.some(
    (element) =>
      element.options?.some(({ text }) => text.toLowerCase() === wanted) ||
      (isSelect(element) && hasMoreOptions(element) && element.value?.toLowerCase().includes(wanted)),
  );
  return [listed ? step.choose(null, option) : step.click(option, page)];
}

/** Splits a request into clauses, without polite phrases. */

const BEFORE =
  /^(?:please|pls|kindly|hey|hi|hello|ok|okay|now|then|just|also|so|well|finally|(?:can|could|would|will) you|(?:i(?:'d| would) like|i want|i need) (?:you )?to|let's|go ahead and)(?=[\s,:!])[\s,:!]*/i;
const AFTER = /[\s,]+(?:please|pls|for me|thanks|thank you|thx|on (?:this|the) page|on here)$/i;
const STOPS = /(?<=[^\s/.!?…])[.!…]+$/;

/** Quoted text. An apostrophe inside a word is not a quote. */
const QUOTED = /`[^`]*`|"[^"]*"|“[^”]*”|«[^»]*»|(?<=^|\s)'[^']*'(?=$|[\s,.;])/;
const QUOTED_OR_BLANKS = new RegExp(`(${QUOTED.source})|\\s+`, 'g');

/** A question keeps its mark, but "could you …?" is not one. Blanks and line breaks in quotes are preserved. */
function normalised(request: string): string {
  let text = request.trim().replace(QUOTED_OR_BLANKS, (_, quoted?: string) => quoted ?? ' ');
  if (/^(?:(?:please|hey|hi|hello|ok|okay)[\s,]+)*(?:can|could|would|will) you\b/i.test(text))
    text = text.replace(/\s*\?+$/, '');
  for (;;) {
    const rest = text.replace(BEFORE, '').replace(STOPS, '').trim();
    const polite = /[?]$/.test(rest) ? rest : withoutEnding(rest);
    if (polite === text || polite === '') return text;
    text = polite;
  }
}

/** Only checks the end, so that a long run of commas is cheap. */
function withoutEnding(text: string): string {
  const at = Math.max(0, text.length - 40);
  return text.slice(0, at) + text.slice(at).replace(AFTER, '');
}

/** Removes quotes around the whole text. */
function unquoted(text: string): string {
  const match = /^(?:"([^"]*)"|“([^”]*)”|'([^']*)'|‘([^’]*)’|`([^`]*)`|«([^»]*)»)$/.exec(text.trim());
  return match ? (match.slice(1).find((inner) => inner !== undefined) ?? '') : text.trim();
}

const CONNECTOR =
  /(?:\s*[,;]\s*|\s+)(?:and\s+then|after\s+that|afterwards|and\s+also|and\s+finally|and|then|finally)\s+|\s*[;,]\s+|[.!]\s+(?=\S)|\s*\n\s*/gi;

/** Maximum length; a longer text is one request. */
const MAX_SPLITS = 20;
const MAX_REQUEST_LENGTH = 2_000;

type Split = { readonly left: string; readonly rest: string };

/** All positions at which one request may end and the next begin, in order; none is inside quotes. */
function splitsOf(text: string): Split[] {
  if (text.length > MAX_REQUEST_LENGTH) return [];
  const open = withoutQuoted(text);
  return [...open.matchAll(CONNECTOR)].slice(0, MAX_SPLITS).flatMap((match) => {
    const left = text.slice(0, match.index).trim();
    const rest = text.slice(match.index + match[0].length).trim();
    return left === '' || rest === '' ? [] : [{ left, rest }];
  });
}

/** Same length, with quoted text masked. */
const withoutQuoted = (text: string): string =>
  text.replace(new RegExp(QUOTED, 'g'), (span) => '\u0000'.repeat(span.length));
