/** Tools of a connected browser: "open https://…", "click #save", "summarise this page", "get the selected text". */
import { callPlan, type Intent, type Plan, request } from '../plan.ts';
import type { FinishedCall } from '../prompt.ts';
import { readable, titleOf } from '../result.ts';
import { code, quoted, shown, summarise } from '../text.ts';
import { contentOf } from './paths.ts';

const OPEN = /^(?:open|go\s+to|visit)\s+(https?:\/\/\S+)$/i;
const CLICK = /^click\s+(?:on\s+)?(?:the\s+)?(.+?)(?:\s+(?:button|link))?$/i;
const TYPE = /^(?:type|enter)\s+(.+)\s+into\s+([#.[]\S*)$/i;
const PAGE = /^(?:extract|read|summari[sz]e)\s+(?:this|the)\s+page$/i;
const SELECTED = /^(?:get|read|show(?:\s+me)?)\s+the\s+selected\s+text$|^what\s+is\s+selected$/i;

export const web: Intent = ({ line }) => {
  const url = OPEN.exec(line)?.[1];
  if (url)
    return callPlan(`open ${url}`, [request('open_url', { url })], (call) => {
      const title = titleOf(call);
      return `${url} is open${title === '' ? '' : `: ${quoted(title)}`}.`;
    });
  if (PAGE.test(line))
    return dependent(callPlan('read the page', [request('extract_page_content', {})], summaryOf));
  if (SELECTED.test(line))
    return callPlan('get the selected text', [request('get_selected_text', {})], selection);
  const [, value, selector] = TYPE.exec(line) ?? [];
  if (value && selector)
    return manipulationPlan(`type ${code(value)} into ${code(selector)}`, {
      action: 'type',
      selector,
      value,
    });
  const target = contentOf(CLICK.exec(line)?.[1] ?? '');
  return target === ''
    ? null
    : manipulationPlan(`click ${code(target)}`, { action: 'click', selector: target });
};

/** Actions on a page need the page to be open. */
const dependent = ({ steps }: Plan): Plan => ({ steps: steps.map((step) => ({ ...step, dependent: true })) });

const manipulationPlan = (title: string, input: { [key: string]: string }): Plan =>
  dependent(callPlan(title, [request('dom_manipulation', input)], () => 'The browser reports success.'));

function summaryOf(call: FinishedCall): string {
  const text = readable(call);
  const title = titleOf(call);
  if (text.trim() === '') return 'The page has no text that I could read.';
  return `The page${title === '' ? '' : ` ${quoted(title)}`}, in short: ${summarise(text)}`;
}

function selection(call: FinishedCall): string {
  const text = readable(call);
  return text.trim() === '' ? 'Nothing is selected.' : `The selected text is:${shown(text)}`;
}
