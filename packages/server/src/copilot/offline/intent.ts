/** One thing that a person wants done on a page, in words: which element is meant is decided when the page is there. */
export type Intent =
  | { readonly kind: 'click'; readonly target: string }
  | { readonly kind: 'doubleClick'; readonly target: string }
  | { readonly kind: 'rightClick'; readonly target: string }
  | { readonly kind: 'hover'; readonly target: string }
  | { readonly kind: 'drag'; readonly target: string; readonly onto: string }
  /** `target` is null where no field is named */
  | { readonly kind: 'fill'; readonly target: string | null; readonly text: string }
  /** `target` is null where no list is named */
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

/** After it the page is another one, and nothing is known of that beforehand. */
export const leavesPage = ({ kind }: Intent): boolean => LEAVING.has(kind);

/** The page must be read for it. */
export const needsText = ({ kind }: Intent): boolean => kind === 'answer';

/** After it the page may look different. */
export const changesPage = ({ kind }: Intent): boolean => CHANGING.has(kind);
