/** The page of a call, as it is stored and as the model receives it. */
import { type Page, parsePage, renderPage } from '@parlance/copilot';
import type { JsonObject, PagePart } from '@parlance/protocol';
import type { InteractRequest } from './request.ts';

/** The token budget of one page in the model's context. */
const PAGE_TOKENS = 6_000;
const MORE_BUTTONS = 100;

/** Null if the request has no page. */
export function pageOf(request: InteractRequest): Page | null {
  const { dom, interactiveTree, semanticNodes, skeletonDom, url } = request;
  if (
    dom === undefined &&
    interactiveTree === undefined &&
    semanticNodes === undefined &&
    skeletonDom === undefined
  ) {
    return null;
  }
  const title = request.pageTitle ?? request.title;
  const wholeOnRequest = request.domMode === 'semantic';
  const page = parsePage(
    { dom, interactiveTree, semanticNodes, skeletonDom, url, title, wholeOnRequest },
    PAGE_TOKENS,
  );
  const hasTree = interactiveTree !== undefined || semanticNodes !== undefined;
  return kept({
    ...page,
    ...(isShell(page, hasTree) && { textMissing: 'unavailable' as const }),
    ...(request.actionGrammar === 'extended' && { extended: true }),
  });
}

/** An empty document, which clients send that cannot read the page, alone or with its tree. */
const isShell = ({ elements, text, textMissing }: Page, hasTree: boolean): boolean =>
  textMissing === undefined && text.trim() === '' && (hasTree || elements.length === 0);

/** Of a page with thousands of elements, stores those that the model receives and some more buttons. */
function kept(page: Page): Page {
  const more = page.elements.slice(page.shown).filter((element) => element.role === 'button');
  return { ...page, elements: [...page.elements.slice(0, page.shown), ...more.slice(0, MORE_BUTTONS)] };
}

export const pageParts = (page: Page | null): PagePart[] =>
  page ? [{ type: 'page', title: page.title, url: page.url, text: renderPage(page) }] : [];

export const pageData = (page: Page | null): JsonObject | undefined =>
  page ? { page: page as unknown as JsonObject } : undefined;
