/**
 * Events between the content script and the script in the page's own world. The page can read and forge them, so they only carry
 * hints: nothing is allowed or denied because of one.
 */
import type { PageDialog } from './messages.ts';

export const TO_PAGE = 'parlance:to-page';
export const FROM_PAGE = 'parlance:from-page';
/** sent on an element that reacts to a press */
export const PRESSABLE = 'parlance:pressable';

export type ToPage =
  /** while active, dialogs do not block and requests are counted */
  | { readonly type: 'active'; readonly on: boolean }
  /** sends `PRESSABLE` on elements that were not reported before */
  | { readonly type: 'pressable' }
  /** an action begins: counts requests from now on, and answers dialogs like this */
  | { readonly type: 'begin'; readonly accept: boolean; readonly text: string | null };

export type FromPage =
  | ({ readonly type: 'dialog' } & { readonly dialog: PageDialog })
  /** the page wants all events of the pointer for the element under it */
  | { readonly type: 'capture' }
  /** a tab that a popup blocker has stopped, or that is open now */
  | { readonly type: 'open' | 'opened'; readonly url: string }
  | { readonly type: 'network'; readonly pending: number };
