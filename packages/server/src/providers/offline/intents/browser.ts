/** "open https://… and click …", "summarise this page", "what is selected", "scroll to …". */
import type { JsonObject } from '@parlance/protocol';
import { doing, type Intent, type Plan, request } from '../plan.ts';
import { readable, titleOf } from '../result.ts';
import { findIn } from '../text/matching.ts';
import { code, quoted, shown } from '../text/quote.ts';
import { summarise } from '../text/summary.ts';
import type { Done } from '../turn.ts';
import { contentOf } from './paths.ts';

const OPEN =
  /^(?:open|go\s+to|visit|navigate\s+to|browse\s+to|load)\s+(?:the\s+)?(?:(?:url|page|website|site|web\s+page)\s+)?(\S+)(?:\s+in\s+(a\s+new)\s+tab)?$/i;
const DOMAIN =
  /^(?:[\w-]+\.)+(?:com|org|net|io|dev|app|edu|gov|info|co|eu|de|uk|fr)(?:[/:?#]\S*)?$|^localhost(?:[:/]\S*)?$/i;
const CLICK = /^(?:click\s+(?:on\s+)?(.+)|(?:press|tap)\s+(?:on\s+)?the\s+(.+)\s+(?:button|link))$/i;
const FILL = /^(?:fill(?:\s+in)?|set)\s+(?:the\s+field\s+)?(\S+|"[^"]+"|`[^`]+`)\s+(?:with|to)\s+(.+)$/i;
const TYPE = /^(?:type|enter)\s+(.+)\s+(?:into|in)\s+(?:the\s+field\s+)?(\S+|"[^"]+"|`[^`]+`)$/i;
const PAGE =
  /^(extract|read|summari[sz]e|get|show(?:\s+me)?|what(?:'s|\s+is)(?:\s+on)?|what\s+does|analy[sz]e|look\s+at)\s+(?:me\s+)?(?:the\s+)?(?:(?:content|text)s?\s+(?:of|from|on)\s+)?(?:this|the|my)?\s*(?:current\s+|open\s+|web\s*)*(?:page|tab|website|site|article)(?:'s)?(?:\s+(?:content|text|about|say|tell\s+me))*$/i;
const ASK_PAGE = /^(.+?)\s+(?:on|in|from|of)\s+(?:this|the|the\s+current)\s+(?:web\s*)?page$/i;
const SELECTED =
  /^(?:(?:what(?:'s|\s+is|\s+did\s+i|\s+have\s+i)|get|read|show(?:\s+me)?)\s+(?:the\s+|my\s+)?(?:currently\s+)?(?:select(?:ed)?(?:\s+text)?|selection|highlighted(?:\s+text)?)|(summari[sz]e)\s+(?:the\s+|my\s+)(?:selection|selected\s+text))$/i;
const TABS =
  /^(?:(?:list|show(?:\s+me)?)\s+(?:the\s+|my\s+|all\s+)*(?:open\s+)?tabs|(close|switch\s+to|activate)\s+(?:the\s+)?tab\s+(\d+))$/i;
const SCROLL = /^scroll\s+(?:down\s+|up\s+)?to\s+(?:the\s+)?(.+)$/i;

export const browser: Intent = {
  name: 'browser',
  match({ line }) {
    const onPage = page(line) ?? manipulate(line) ?? ask(line);
    return selected(line) ?? tabs(line) ?? open(line) ?? (onPage && afterOpening(onPage));
  },
};

/** Actions on a page need the page to be open. */
const afterOpening = (plan: Plan): Plan => ({
  ...plan,
  steps: plan.steps.map((step) => ({ ...step, dependent: true })),
});

function open(line: string): Plan | null {
  const match = OPEN.exec(line);
  const said = contentOf(match?.[1] ?? '');
  const url = /^https?:\/\/\S+$/i.test(said) ? said : DOMAIN.test(said) ? addressOf(said) : null;
  if (!url) return null;
  const input: JsonObject = match?.[2] ? { url, newTab: true } : { url };
  return doing(`open ${url}`, [{ tool: 'open_url', input }], (done) => {
    const title = titleOf(done);
    return title === '' ? `${url} is open.` : `${url} is open: ${quoted(title)}.`;
  });
}

const addressOf = (domain: string): string =>
  /^localhost/i.test(domain) ? `http://${domain}` : `https://${domain}`;

function manipulate(line: string): Plan | null {
  const scroll = SCROLL.exec(line)?.[1];
  if (scroll) {
    const selector = contentOf(scroll);
    const options = [{ tool: 'scroll_to_element', input: { selector } }];
    return doing(`scroll to ${code(selector)}`, options, () => `${code(selector)} is in view.`);
  }
  const clicked = CLICK.exec(line);
  const click = clicked?.[1] ?? clicked?.[2];
  if (click) {
    const selector = contentOf(click.replace(/^the\s+/i, '').replace(/\s+(?:button|link)$/i, ''));
    return acting(`click ${code(selector)}`, { action: 'click', selector }, `I clicked ${code(selector)}.`);
  }
  const fill = FILL.exec(line);
  const type = TYPE.exec(line);
  const selector = contentOf(fill?.[1] ?? type?.[2] ?? '');
  const value = contentOf(fill?.[2] ?? type?.[1] ?? '');
  if (!/^(?:[#.[]|(?:input|textarea|select)\b)/.test(selector)) return null;
  const title = `type ${code(value)} into ${code(selector)}`;
  return acting(title, { action: 'type', selector, value }, `${code(selector)} now holds ${code(value)}.`);
}

const acting = (title: string, input: { [key: string]: string }, said: string): Plan =>
  doing(title, [{ tool: 'dom_manipulation', input }], () => said);

function page(line: string): Plan | null {
  const verb = PAGE.exec(line)?.[1];
  if (verb === undefined) return null;
  return doing('read the page', [{ tool: 'extract_page_content', input: {} }], pageInShort);
}

function pageInShort(done: Done): string {
  const title = titleOf(done);
  const text = readable(done);
  if (text.trim() === '') return 'The page has no text that I could read.';
  const head = title === '' ? 'The page, in short:' : `The page ${quoted(title)}, in short:`;
  return `${head} ${summarise(title === '' ? text : `Title: ${title}\n${text}`)}`;
}

function ask(line: string): Plan | null {
  const question = ASK_PAGE.exec(line)?.[1];
  if (!question || !/^(?:what|who|when|where|which|how|is|are|does|do|find|was|were)\b/i.test(question))
    return null;
  return doing('read the page', [{ tool: 'extract_page_content', input: {} }], (done) => {
    const found = findIn(readable(done), question);
    if (!found) return `I found nothing on the page about ${quoted(question)}. ${pageInShort(done)}`;
    return `The page says: ${quoted(found.sentences.join(' '), 800)}`;
  });
}

function tabs(line: string): Plan | null {
  const match = TABS.exec(line);
  if (!match) return null;
  const tabId = Number(match[2]);
  if (!match[1]) return doing('list the tabs', [request('tab_management', { action: 'list' })]);
  const action = /^close/i.test(match[1]) ? 'close' : 'activate';
  return doing(`${action} tab ${tabId}`, [request('tab_management', { action, tabId })]);
}

function selected(line: string): Plan | null {
  const match = SELECTED.exec(line);
  if (!match) return null;
  const short = match[1] !== undefined;
  return doing('get the selected text', [{ tool: 'get_selected_text', input: {} }], (done) => {
    const text = readable(done);
    if (text.trim() === '') return 'Nothing is selected.';
    return short ? `The selection, in short: ${summarise(text)}` : `The selected text is:${shown(text)}`;
  });
}
