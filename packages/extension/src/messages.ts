/**
 * Messages between the background worker, the content script of a tab and the script in the page's own world. Both ends of the
 * first are this extension.
 */
import type { Action } from '@parlance/copilot';

/** Actions that the background worker executes itself, because they need an extension API. */
const BACKGROUND_ACTIONS = [
  'navigate',
  'search',
  'goBack',
  'goForward',
  'createTab',
  'switch',
  'close',
  'getTabs',
  'screenshot',
  'numberedScreenshot',
  'evaluate',
  'finish',
  'fail',
] as const satisfies readonly Action['name'][];

export type BackgroundAction = Extract<Action, { name: (typeof BACKGROUND_ACTIONS)[number] }>;
export type PageAction = Exclude<Action, BackgroundAction>;

export const isPageAction = (action: Action): action is PageAction =>
  !(BACKGROUND_ACTIONS as readonly string[]).includes(action.name);

/** Browser tools of the extension contract that run in the page. */
export type PageTool =
  | 'extract_page_content'
  | 'get_selected_text'
  | 'scroll_to_element'
  | 'dom_manipulation'
  | 'storage_access';

/** Sent with `chrome.tabs.sendMessage(tabId, request, { frameId: 0 })`. */
export type ContentRequest =
  /** the content script is there */
  | { readonly kind: 'ping' }
  /** a task begins: page dialogs no longer block; numbers stay stable until `release` */
  | { readonly kind: 'attach' }
  | { readonly kind: 'snapshot' }
  /** why this action needs a confirmation, and its target for display */
  | { readonly kind: 'inspect'; readonly action: Action }
  /** the same for a browser tool */
  | {
      readonly kind: 'inspect-tool';
      readonly tool: PageTool;
      readonly parameters: Readonly<Record<string, unknown>>;
    }
  /** executes it and answers at once; `settle` follows */
  | { readonly kind: 'act'; readonly action: PageAction }
  /** answers when the page is quiet, at the latest after `maxMs` (5,000) */
  | { readonly kind: 'settle'; readonly maxMs?: number }
  | { readonly kind: 'tool'; readonly tool: PageTool; readonly parameters: Readonly<Record<string, unknown>> }
  /** hides secrets, and the indicator, for a picture */
  | { readonly kind: 'conceal'; readonly on: boolean }
  /** draws the numbers of the elements into the page for a picture; answers which */
  | { readonly kind: 'draw-numbers'; readonly on: boolean }
  /** shows or hides the indicator in the page */
  | { readonly kind: 'indicate'; readonly text: string | null }
  /** the task is over */
  | { readonly kind: 'release' };

export type ContentKind = ContentRequest['kind'];

export type ContentAnswers = {
  ping: { readonly ready: true };
  attach: null;
  snapshot: Snapshot;
  inspect: Inspection;
  'inspect-tool': Inspection;
  act: ActionOutcome;
  settle: Observations;
  tool: unknown;
  conceal: null;
  'draw-numbers': readonly number[];
  indicate: null;
  release: null;
};

/** What `sendMessage` resolves to. A rejected promise means that the document is gone or has no content script. */
export type ContentReply<Kind extends ContentKind = ContentKind> =
  | { readonly ok: true; readonly value: ContentAnswers[Kind] }
  | { readonly ok: false; readonly error: PageError };

export type PageErrorCode =
  | 'ELEMENT_NOT_FOUND'
  | 'ELEMENT_HIDDEN'
  | 'ELEMENT_COVERED'
  | 'ELEMENT_DISABLED'
  | 'NOT_EDITABLE'
  | 'NOT_A_LIST'
  | 'OPTION_NOT_FOUND'
  | 'NOT_CHECKABLE'
  | 'INVALID_VALUE'
  | 'SECRET_FIELD'
  | 'TEXT_NOT_FOUND'
  | 'NO_DIALOG'
  | 'USER_NEEDED'
  | 'UNSUPPORTED'
  | 'INTERNAL_ERROR';

export type PageError = {
  readonly code: PageErrorCode;
  /** a sentence for the model and the user */
  readonly message: string;
  readonly elementId?: number;
};

/** The page as the copilot contract sends it: `url`, `pageTitle`, `dom`, `viewport` and `scrollPosition`. */
export type Snapshot = {
  readonly url: string;
  readonly title: string;
  /** HTML with a number as `id` on every interactive element; untrusted text, without values of secret fields */
  readonly dom: string;
  readonly elements: number;
  /** parts of the page were left out for the size limit */
  readonly truncated: boolean;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly scrollPosition: { readonly x: number; readonly y: number; readonly height: number };
};

/** A dialog of `alert`, `confirm` or `prompt`. It was answered at once (dismissed) and can still be accepted. */
export type PageDialog = {
  readonly type: 'alert' | 'confirm' | 'prompt';
  readonly message: string;
};

export type ActionOutcome = {
  readonly success: boolean;
  readonly error?: PageError;
  /** what a reading action returns: the text, the options, the attribute … */
  readonly value?: unknown;
  /** the address before the action */
  readonly previousUrl: string;
  readonly elementFound: boolean;
};

/** What happened since the last action. */
export type Observations = {
  readonly url: string;
  readonly didNetworkOccur: boolean;
  readonly didDomMutate: boolean;
  readonly didUrlChange: boolean;
  /** dialogs that the page opened */
  readonly dialogs: readonly PageDialog[];
  /** addresses that the page wanted to open in a new tab; a popup blocker stops clicks of a content script */
  readonly openedUrls: readonly string[];
  /** addresses of tabs that the page has opened itself */
  readonly openedTabs: readonly string[];
};

/** Why an action is always confirmed by the user. */
export type SensitiveReason = 'payment' | 'download' | 'upload' | 'other-origin' | 'evaluate' | 'stored-data';

export type Inspection = {
  readonly reasons: readonly SensitiveReason[];
  /** the element of the action, for display */
  readonly target: { readonly id: number; readonly role: string; readonly name: string } | null;
  /** where a link or form leads, if it leaves the page */
  readonly destination: string | null;
};

// Events between the content script and the script in the page's own world. The page can read and forge them, so they only carry
// hints: nothing is allowed or denied because of one.

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
