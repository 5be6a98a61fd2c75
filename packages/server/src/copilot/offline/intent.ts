/** One requested operation on a page, in words: the element is resolved when the page is known. */
export type Intent =
  | { readonly kind: 'click'; readonly target: string }
  | { readonly kind: 'doubleClick'; readonly target: string }
  | { readonly kind: 'rightClick'; readonly target: string }
  | { readonly kind: 'hover'; readonly target: string }
  | { readonly kind: 'drag'; readonly target: string; readonly onto: string }
  /** `target` is null if no field is named */
  | { readonly kind: 'fill'; readonly target: string | null; readonly text: string }
  /** `target` is null if no list is named */
  | { readonly kind: 'choose'; readonly target: string | null; readonly option: string }
  | { readonly kind: 'tick'; readonly target: string; readonly on: boolean }
  | { readonly kind: 'fillSearch'; readonly text: string }
  | { readonly kind: 'sendSearch' }
  | { readonly kind: 'webSearch'; readonly text: string }
  | { readonly kind: 'fillUser'; readonly text: string }
  | { readonly kind: 'fillPassword'; readonly text: string }
  | { readonly kind: 'submit' }
  | { readonly kind: 'login' }
  | { readonly kind: 'visit'; readonly url: string }
  | { readonly kind: 'newTab'; readonly url: string }
  | { readonly kind: 'turnPage'; readonly to: 'next' | 'previous' | number }
  | { readonly kind: 'history'; readonly to: 'back' | 'forward' }
  | { readonly kind: 'reload' }
  | { readonly kind: 'press'; readonly key: string }
  | { readonly kind: 'scroll'; readonly to: 'up' | 'down' | 'top' | 'bottom' }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'dialog'; readonly accept: boolean }
  | { readonly kind: 'closeDialog' }
  | { readonly kind: 'findText'; readonly text: string }
  | { readonly kind: 'answer'; readonly question: string };

type Kinds = ReadonlySet<Intent['kind']>;

const LEAVING: Kinds = new Set([
  'sendSearch',
  'webSearch',
  'submit',
  'visit',
  'newTab',
  'turnPage',
  'history',
  'reload',
] as const);
const CHANGING: Kinds = new Set([
  ...LEAVING,
  'click',
  'doubleClick',
  'choose',
  'tick',
  'login',
  'press',
  'dialog',
  'closeDialog',
] as const);

/** Whether it leads to another, unknown page. */
export const leavesPage = ({ kind }: Intent): boolean => LEAVING.has(kind);

/** Whether the page must be read for it. */
export const needsText = ({ kind }: Intent): boolean => kind === 'answer';

/** Whether the page may look different afterwards. */
export const changesPage = ({ kind }: Intent): boolean => CHANGING.has(kind);
