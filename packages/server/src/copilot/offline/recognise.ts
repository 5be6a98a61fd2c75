/** Parses one clause of a request into intents. Uses the page only if the words alone are ambiguous. */
import { findElements } from '../page/find.ts';
import { hasMoreOptions, isSelect, type Page } from '../page/page.ts';
import type { Intent } from './intent.ts';
import { BOXES, isLoginPage, searchField } from './places.ts';
import { answerFrom, isQuestion } from './questions.ts';
import { unquoted } from './request.ts';
import { addressIn, siteCalled } from './sites.ts';

/** The intents of a clause, what is missing for them, or null if it is not understood. */
export type Recognised =
  | { readonly intents: readonly Intent[] }
  | { readonly missing: readonly string[] }
  | null;

type Rule = readonly [pattern: RegExp, read: (found: readonly string[], page: Page) => Recognised];

const one = (intent: Intent): Recognised => ({ intents: [intent] });
const name = (said: string | undefined): string =>
  unquoted((said ?? '').replace(/^(?:the|a|an)\s+(?=["“'‘`«])/i, ''));

const KEYS = new Map(
  'enter tab escape backspace delete space home end pageup pagedown arrowup arrowdown arrowleft arrowright'
    .split(' ')
    .map((key, index): [string, string] => [
      key,
      'Enter Tab Escape Backspace Delete Space Home End PageUp PageDown ArrowUp ArrowDown ArrowLeft ArrowRight'.split(
        ' ',
      )[index] ?? key,
    ]),
);
KEYS.set('return', 'Enter')
  .set('esc', 'Escape')
  .set('del', 'Delete')
  .set('up', 'ArrowUp')
  .set('down', 'ArrowDown');

const LONGEST_CLAUSE = 1_000;
const CLICK = '(?:click|tap|hit|push|select|choose|press)(?:\\s+on)?';
const FIELD_LINK = '(?:into|in|to|inside|on)';

const PATTERNS: readonly Rule[] = [
  [
    /^(?:log|sign)\s*(?:me\s+)?in(?:to\b.*?)?(?:\s+(?:as|with|using)\s+(?:(?:user(?:name)?|name|email|the user)\s+)?(\S+|"[^"]+"))?(?:(?:\s+(?:and|with|using)|\s*,|\s*\/)?\s+(?:(?:the\s+)?(?:password|pw)\s*:?\s+)(.+))?$/i,
    login,
  ],
  [/^double[\s-]?click(?:\s+on)?\s+(.+)$/i, ([target]) => one({ kind: 'doubleClick', target: name(target) })],
  [/^right[\s-]?click(?:\s+on)?\s+(.+)$/i, ([target]) => one({ kind: 'rightClick', target: name(target) })],
  [/^hover(?:\s+over|\s+on)?\s+(.+)$/i, ([target]) => one({ kind: 'hover', target: name(target) })],
  [
    /^drag\s+(.+?)\s+(?:on)?to\s+(.+)$/i,
    ([target, onto]) => one({ kind: 'drag', target: name(target), onto: name(onto) }),
  ],
  [/^(?:press|hit|push)\s+(?:the\s+)?([a-z]+)(?:\s+key)?$/i, ([key], page) => pressed(key ?? '', page)],
  [
    /^(?:go|navigate|move)?\s*(?:one\s+page\s+)?back(?:\s+to\s+the\s+(?:previous|last)\s+page)?$/i,
    () => one({ kind: 'history', to: 'back' }),
  ],
  [/^(?:go|navigate|move)\s+(?:one\s+page\s+)?forwards?$/i, () => one({ kind: 'history', to: 'forward' })],
  [/^(?:reload|refresh)(?:\s+(?:the|this)\s+page)?$/i, () => one({ kind: 'reload' })],
  [
    /^scroll(?:\s+all\s+the\s+way)?(?:\s+(?:the\s+page))?\s*(?:to\s+the\s+)?(up|down|top|bottom|end|start|beginning)?(?:\s+of\s+the\s+page|\s+a\s+(?:bit|little))?$/i,
    ([where]) => one({ kind: 'scroll', to: scrolled(where) }),
  ],
  [
    /^wait(?:\s+(?:for\s+)?(a|one|two|three|five|ten|\d+(?:\.\d+)?)\s*(?:s|secs?|seconds?|moment)?)?(?:\s+(?:bit|moment))?$/i,
    ([time]) => one({ kind: 'wait', seconds: secondsIn(time) }),
  ],
  [
    /^(?:accept|confirm|ok)\s+(?:the\s+)?(?:dialog|alert|prompt|popup)$/i,
    () => one({ kind: 'dialog', accept: true }),
  ],
  [
    /^(?:dismiss|cancel|reject)\s+(?:the\s+)?(?:dialog|alert|prompt|popup)$/i,
    () => one({ kind: 'dialog', accept: false }),
  ],
  [
    /^close\s+(?:the\s+|this\s+)?(?:dialog|modal|pop-?up|banner|window|overlay|message)$/i,
    () => one({ kind: 'closeDialog' }),
  ],
  [/^open\s+(?:a\s+)?new\s+tab(?:\s+(?:with|at|for|to|on)\s+(\S+))?$/i, ([where]) => opened(where)],
  [/^(?:open|load)\s+(\S+)\s+in\s+a\s+new\s+tab$/i, ([where]) => opened(where)],
  [
    /^(?:go|move|turn|continue|advance|navigate)?\s*(?:to\s+)?(?:the\s+)?(next|previous|prev)\s+(?:page|results?)(?:\s+of\s+.+)?$/i,
    ([to]) => one({ kind: 'turnPage', to: /^n/i.test(to ?? '') ? 'next' : 'previous' }),
  ],
  [
    /^(?:go|move|turn|navigate|jump)\s+to\s+page\s+(?:number\s+)?(\d{1,5})$/i,
    ([number]) => one({ kind: 'turnPage', to: Number(number) }),
  ],
  [
    /^(?:go\s+to|open|visit|navigate\s+to|browse\s+to|load|show)\s+(?:the\s+)?(?:(?:url|web\s*page|page|web\s*site|site)\s+)?(\S+)$/i,
    ([where]) => visited(where ?? ''),
  ],
  [
    /^(?:do\s+a\s+)?(?:web|google|internet)\s+search\s+for\s+(.+)$|^google\s+(.+)$|^search\s+(?:the\s+)?(?:web|internet|google)\s+for\s+(.+)$/i,
    (found) => one({ kind: 'webSearch', text: name(found.find((text) => text)) }),
  ],
  [
    /^(?:search|look)\s+(?:for\s+|up\s+)?(?!in\s)(.+?)(?:\s+(?:on|in)\s+(?:this|the)\s+(?:site|website|page|shop|store))?$/i,
    ([text], page) => searched(name(text), page),
  ],
  [/^(?:find|locate)\s+the\s+text\s+(.+)$/i, ([text]) => one({ kind: 'findText', text: name(text) })],
  [
    new RegExp(
      `^(?:type|enter|write|put|input|insert|paste)(?:\\s+in)?\\s+("[^"]*"|“[^”]*”|'[^']*'|.+)\\s+${FIELD_LINK}\\s+(.+)$`,
      'i',
    ),
    ([text, target]) => one({ kind: 'fill', target: name(target), text: name(text) }),
  ],
  [
    /^(?:type|enter|write|put|input|paste)\s+(.+?)\s+as\s+((?:the|my|your|our)\s+.+)$/i,
    ([text, target]) => one({ kind: 'fill', target: name(target), text: name(text) }),
  ],
  [
    /^(?:type|enter|write|input|paste)\s+(?!in\b)(.+)$/i,
    ([text]) => one({ kind: 'fill', target: null, text: name(text) }),
  ],
  [
    /^fill\s+(?:in\s+|out\s+)?(?:the\s+|this\s+)?(?:form|fields?)\s+with\s+(.+)$/i,
    ([pairs], page) => filled(pairs ?? '', page),
  ],
  [
    /^(?:fill|complete)\s+(?:in\s+|out\s+)?(.+?)\s+(?:with|as|by)\s+(.+)$/i,
    ([target, text]) => one({ kind: 'fill', target: name(target), text: name(text) }),
  ],
  [
    /^(?:set|change|update|edit)\s+(.+?)\s+(?:to|as|=)\s+(.+)$/i,
    ([target, text]) => one({ kind: 'fill', target: name(target), text: name(text) }),
  ],
  [/^(?:clear|empty)\s+(.+)$/i, ([target], page) => cleared(name(target), page)],
  [
    /^(?:select|choose|pick)\s+(?:the\s+(?:option\s+)?)?("[^"]*"|“[^”]*”|.+?)\s+(?:from|in|for|as|under)\s+(.+)$/i,
    ([option, target]) => one({ kind: 'choose', target: name(target), option: name(option) }),
  ],
  [
    /^((?:sort|order|filter)\s+by)\s+(.+)$/i,
    ([target, option], page) =>
      findElements(page, target ?? '', ['combobox', 'listbox']).length > 0
        ? one({ kind: 'choose', target: target ?? null, option: name(option) })
        : null,
  ],
  [
    /^(?:uncheck|untick|unselect|deselect|disable|turn\s+off|switch\s+off)\s+(.+)$/i,
    ([target]) => one({ kind: 'tick', target: name(target), on: false }),
  ],
  [
    /^(?:check|tick|enable|turn\s+on|switch\s+on)\s+(?!out\b)(.+)$/i,
    ([target], page) => checked(target ?? '', page),
  ],
  [/^((?:accept|agree\s+to|agree\s+with)\s+.+)$/i, ([phrase], page) => accepted(phrase ?? '', page)],
  [/^(?:submit|send)(?:\s+(?:it|(?:the|this)\s+form|the\s+request))?$/i, () => one({ kind: 'submit' })],
  [/^(?:select|choose|pick)\s+(.+)$/i, ([option], page) => picked(name(option), page)],
  [new RegExp(`^${CLICK}\\s+(.+)$`, 'i'), ([target]) => one({ kind: 'click', target: name(target) })],
  [
    /^(?:open|follow|go\s+to|visit|show|expand|collapse|view|switch\s+to|navigate\s+to)\s+(.+)$/i,
    ([target], page) => gone(name(target), page),
  ],
];

/** A quoted text may have several lines. */
const RULES = PATTERNS.map(([pattern, read]): Rule => [new RegExp(pattern, `${pattern.flags}s`), read]);

export const recognise = (clause: string, page: Page): Recognised =>
  byWords(clause, page) ?? byName(clause, page);

/** By the words of the clause, independent of the page. */
export function byWords(clause: string, page: Page): Recognised {
  if (clause.length > LONGEST_CLAUSE) return null;
  for (const [pattern, read] of RULES) {
    const match = pattern.exec(clause);
    const found = match && read(match.slice(1), page);
    if (found) return found;
  }
  return isQuestion(clause) ? one({ kind: 'answer', question: clause }) : null;
}

/** Maximum number of words in the name of a button. */
const MOST_WORDS = 12;

/** "add the blue lamp to the cart": no known verb, but a button with that name. */
export function byName(clause: string, page: Page): Recognised {
  if (clause.split(' ').length > MOST_WORDS) return null;
  const [best] = findElements(page, clause, ['button', 'link', 'menuitem', 'tab']);
  return best && best.score >= 0.5 ? one({ kind: 'click', target: clause }) : null;
}

function login([user, password]: readonly string[], page: Page): Recognised {
  if (!user && !password && !isLoginPage(page)) return one({ kind: 'login' });
  const missing = [...(user ? [] : ['user name']), ...(password ? [] : ['password'])];
  if (missing.length > 0) return { missing };
  const fills: Intent[] = [
    { kind: 'fillUser', text: name(user) },
    { kind: 'fillPassword', text: name(password) },
    { kind: 'submit' },
  ];
  return { intents: isLoginPage(page) || page.elements.length === 0 ? fills : [{ kind: 'login' }, ...fills] };
}

function pressed(said: string, page: Page): Recognised {
  const key = KEYS.get(said.toLowerCase());
  // A button may have the name of a key.
  if (!key || findElements(page, said, ['button']).some(({ score }) => score === 1)) return null;
  return one({ kind: 'press', key });
}

const scrolled = (where: string | undefined): 'up' | 'down' | 'top' | 'bottom' => {
  const word = (where ?? 'down').toLowerCase();
  if (word === 'up' || word === 'top' || word === 'bottom') return word;
  return word === 'end' ? 'bottom' : word === 'start' || word === 'beginning' ? 'top' : 'down';
};

const NUMBERS: Readonly<Record<string, number>> = { a: 2, one: 1, two: 2, three: 3, five: 5, ten: 10 };
const secondsIn = (time: string | undefined): number =>
  Math.min(60, time === undefined ? 2 : (NUMBERS[time.toLowerCase()] ?? Number(time)));

function opened(where: string | undefined): Recognised {
  if (where === undefined) return one({ kind: 'newTab', url: 'about:blank' });
  const url = addressIn(unquoted(where)) ?? siteCalled(where);
  return url ? one({ kind: 'newTab', url }) : null;
}

function visited(where: string): Recognised {
  const url = addressIn(unquoted(where));
  return url ? one({ kind: 'visit', url }) : null;
}

/** An element of the page takes precedence over a site with that name. */
function gone(target: string, page: Page): Recognised {
  const [best] = findElements(page, target);
  const site = siteCalled(target);
  return site && (best?.score ?? 0) < 0.9
    ? one({ kind: 'visit', url: site })
    : one({ kind: 'click', target });
}

/** The page's own search if there is one; an unknown page is assumed to have one. */
function searched(text: string, page: Page): Recognised {
  if (page.elements.length > 0 && !searchField(page)) return one({ kind: 'webSearch', text });
  return { intents: [{ kind: 'fillSearch', text }, { kind: 'sendSearch' }] };
}

function cleared(target: string, page: Page): Recognised {
  const [best] = findElements(page, target);
  if (best?.element.role === 'checkbox') return one({ kind: 'tick', target, on: false });
  return best && best.element.role !== 'button' ? one({ kind: 'fill', target, text: '' }) : null;
}

/** "check the terms box" is a checkbox, "check the price" is a question. */
function checked(target: string, page: Page): Recognised {
  const box = /\bbox(?:es)?\b/i.test(target) || findElements(page, name(target), BOXES).length > 0;
  if (!box && (page.textMissing === 'onRequest' || answerFrom(page, `what is ${target}`) !== null))
    return one({ kind: 'answer', question: `what is ${target}` });
  return one({ kind: 'tick', target: name(target), on: true });
}

function accepted(phrase: string, page: Page): Recognised {
  const rest = phrase.replace(/^(?:accept|agree\s+(?:to|with))\s+/i, '');
  if (findElements(page, rest, BOXES)[0]) return one({ kind: 'tick', target: rest, on: true });
  if (findElements(page, phrase, BOXES)[0]) return one({ kind: 'tick', target: phrase, on: true });
  return one({ kind: 'click', target: phrase });
}

/** "select Blue": an option of some list, or else an element to click. */
function picked(option: string, page: Page): Recognised {
  const wanted = option.toLowerCase();
  const listed = page.elements.some(
    (element) =>
      element.options?.some(({ text }) => text.toLowerCase() === wanted) ||
      (isSelect(element) && hasMoreOptions(element) && element.value?.toLowerCase().includes(wanted)),
  );
  return listed ? one({ kind: 'choose', target: null, option }) : one({ kind: 'click', target: option });
}

/** "name Ada and email ada@example.org": each part begins with the name of a field. */
function filled(pairs: string, page: Page): Recognised {
  const intents: Intent[] = [];
  for (const part of pairs.split(/\s*,\s*(?:and\s+)?|\s+and\s+/i)) {
    const said = /^(.+?)\s*(?:=|:|\s(?:is|as|to)\s)\s*(.+)$/i.exec(part);
    const words = part.split(' ');
    const lengths = words
      .slice(1)
      .map((_, index) => index + 1)
      .reverse();
    const length = lengths.find(
      (count) => (findElements(page, words.slice(0, count).join(' '))[0]?.score ?? 0) >= 0.5,
    );
    if (said) intents.push({ kind: 'fill', target: name(said[1]), text: name(said[2]) });
    else if (length)
      intents.push({
        kind: 'fill',
        target: words.slice(0, length).join(' '),
        text: name(words.slice(length).join(' ')),
      });
    else return { missing: [part] };
  }
  return { intents };
}
