/** Web pages as a copilot sees them, and browser actions. Pure functions. */
export { type Action, isExtended, usageOf } from './action/action.ts';
export { parseAction, parseWritten } from './action/parse.ts';
export { sendAction, sendWritten } from './action/print.ts';
export { actionProblem } from './action/problem.ts';
export { suggestCorrection } from './correction.ts';
export type { ActionReport } from './evidence.ts';
export { line } from './page/clean.ts';
export { findElements } from './page/find.ts';
export {
  elementOf,
  hasMoreOptions,
  isSelect,
  optionWithin,
  type Page,
  type PageElement,
} from './page/page.ts';
export { parsePage } from './page/parse-page.ts';
export { renderPage, renderReturned } from './page/render.ts';
export { INPUT_ROLES, isTicked } from './page/roles.ts';
export { folded, wordsOf } from './page/words.ts';
export {
  lastPage,
  type PlanProgress,
  progressAfter,
  stepOf,
  type ToolUse,
  withoutStalePages,
} from './task-log.ts';
export { verifyAction } from './verify.ts';
