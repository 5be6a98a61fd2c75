/** The page that came with a call, as the model is shown it and as it is stored. */
import { type Page, renderPage, understandPage } from '@parlance/copilot';
import { type JsonObject, type Part, textPart } from '@parlance/protocol';
import type { InteractRequest } from './request.ts';

/** How much of the model's context one page may take. */
const PAGE_TOKENS = 6_000;
const MORE_BUTTONS = 100;

/** Null if there is none. */
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
  return kept(
    understandPage(
      { dom, interactiveTree, semanticNodes, skeletonDom, url, title, wholeOnRequest },
      PAGE_TOKENS,
    ),
  );
}

/** Of a page with thousands of elements, those a model is shown are stored, and some buttons that did not fit. */
function kept(page: Page): Page {
  const more = page.elements.slice(page.shown).filter((element) => element.role === 'button');
  return { ...page, elements: [...page.elements.slice(0, page.shown), ...more.slice(0, MORE_BUTTONS)] };
}

export const pageParts = (page: Page | null): Part[] => (page ? [textPart(renderPage(page))] : []);

export const pageData = (page: Page | null): JsonObject | undefined =>
  page ? { page: page as unknown as JsonObject } : undefined;
