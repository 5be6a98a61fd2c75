/** The door of this room: plain functions about pages and actions, which know no wire, no store and no model. */
export {
  ACTION_NAMES,
  type Action,
  type ActionName,
  type Argument,
  type Parameter,
  parametersOf,
} from './action/action.ts';
export { fitsPage } from './action/fits.ts';
export { parseAction } from './action/parse.ts';
export { printAction } from './action/print.ts';
export { findElements, type Match } from './page/find.ts';
export {
  type ElementOption,
  type ElementState,
  elementOf,
  type Page,
  type PageElement,
} from './page/page.ts';
export { PAGE_BEGINS, PAGE_ENDS, renderElement, renderPage } from './page/render.ts';
export { type PageInput, understandPage } from './page/understand.ts';
