/** Reads a page in any form that a client sends. Pure; never throws. */
import { jsonNestsDeeper } from '@parlance/protocol';
import { priceOf } from './budget.ts';
import { line } from './clean.ts';
import { readDocument } from './document.ts';
import { elementFrom } from './elements.ts';
import { type ParsedNodes, readNodes } from './nodes.ts';
import type { Page, PageElement } from './page.ts';
import { readable } from './readable.ts';
import { renderElement } from './render.ts';

export type PageInput = {
  readonly dom?: string;
  readonly interactiveTree?: unknown;
  readonly semanticNodes?: unknown;
  readonly skeletonDom?: string;
  readonly url?: string;
  readonly title?: string;
  /** the client sends the whole page on request */
  readonly wholeOnRequest?: boolean;
};

type Form = ParsedNodes & { readonly title: string; readonly markup: boolean };

/** Share of the budget for elements; the text gets the rest, and what they do not use. */
const ELEMENTS_SHARE = 0.6;

/**
 * Of several forms of a page the first with elements provides them: `dom`, `interactiveTree`, `semanticNodes`, `skeletonDom`;
 * text comes from markup rather than from a tree. The rendered page costs about `budgetTokens` at most; `elements` is always
 * complete.
 */
export function parsePage(input: PageInput, budgetTokens: number): Page {
  const forms = formsOf(input);
  const elements = forms.find((form) => form.elements.length > 0)?.elements ?? [];
  const withText = forms.filter((form) => /\S/.test(form.text));
  const raw = (withText.find((form) => form.markup) ?? withText[0])?.text ?? '';
  const title = input.title?.trim() || (forms.find((form) => form.title !== '')?.title ?? '');
  const budget = Math.max(0, budgetTokens);
  const { shown, price } = withinBudget(elements, budget * ELEMENTS_SHARE);
  const { text, truncated } = readable(raw, budget - price);
  return {
    title: line(title, 300),
    url: line(input.url ?? '', 2_000),
    elements,
    shown,
    text,
    truncated: truncated || shown < elements.length,
    ...(forms.length > 0 &&
      !forms.some((form) => form.markup) && {
        textMissing: input.wholeOnRequest ? ('onRequest' as const) : ('unavailable' as const),
      }),
  };
}

function formsOf({ dom, interactiveTree, semanticNodes, skeletonDom }: PageInput): Form[] {
  return [
    ...(dom ? [markup(dom)] : []),
    ...(interactiveTree ? [tree(interactiveTree)] : []),
    ...(semanticNodes ? [tree(semanticNodes)] : []),
    ...(skeletonDom ? [markup(skeletonDom)] : []),
  ];
}

function markup(html: string): Form {
  const document = readDocument(html);
  const elements = document.elements.map((draft, index) =>
    elementFrom(document, draft, document.elements[index - 1]),
  );
  return { elements, text: document.text, title: document.title, markup: true };
}

const tree = (source: unknown): Form => ({ ...readNodes(parsed(source)), title: '', markup: false });

/** Some clients send a tree as JSON inside JSON. */
function parsed(source: unknown): unknown {
  if (typeof source !== 'string' || jsonNestsDeeper(source)) return source;
  try {
    return JSON.parse(source);
  } catch {
    return source;
  }
}

function withinBudget(elements: readonly PageElement[], budget: number): { shown: number; price: number } {
  let price = 0;
  for (const [shown, element] of elements.entries()) {
    const more = priceOf(renderElement(element)) + 1;
    if (price + more > budget) return { shown, price };
    price += more;
  }
  return { shown: elements.length, price };
}
