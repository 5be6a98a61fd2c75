/** The actions that clients carry out, as the contract's grammar lists them: each field is one argument, in this order. */

const GRAMMAR = {
  navigate: { url: 'string' },
  search: { query: 'string' },
  goBack: {},
  goForward: {},
  wait: { seconds: 'amount' },
  click: { id: 'number' },
  setValue: { id: 'number', text: 'string' },
  findText: { text: 'string' },
  hover: { id: 'number' },
  doubleClick: { id: 'number' },
  rightClick: { id: 'number' },
  dragAndDrop: { from: 'number', to: 'number' },
  press: { key: 'string' },
  type: { text: 'string' },
  focus: { id: 'number' },
  blur: { id: 'number' },
  check: { id: 'number' },
  uncheck: { id: 'number' },
  dropdownOptions: { id: 'number' },
  selectDropdown: { id: 'number', value: 'string' },
  createTab: { url: 'string' },
  switch: { tabId: 'number' },
  close: { tabId: 'number' },
  getTabs: {},
  getText: { id: 'number' },
  getAttribute: { id: 'number', attribute: 'string' },
  isVisible: { id: 'number' },
  isEnabled: { id: 'number' },
  screenshot: {},
  acceptDialog: {},
  dismissDialog: {},
  getCookies: {},
  getLocalStorage: {},
  evaluate: { code: 'string' },
  finish: {},
  fail: {},
} as const satisfies Record<string, Record<string, Parameter>>;

/** `number` is a whole number from 0 on, as elements and tabs have; an `amount` may have a fraction. */
export type Parameter = 'string' | 'number' | 'amount';

type Grammar = typeof GRAMMAR;
type ValueOf<Kind> = Kind extends 'string' ? string : number;
type Listed = {
  [Name in keyof Grammar]: { readonly name: Name } & {
    readonly [Field in keyof Grammar[Name]]: ValueOf<Grammar[Name][Field]>;
  };
}[keyof Grammar];

export type Argument = string | number | boolean;

/** What `scroll` takes differs from client to client: up to four plain arguments. */
export type Scroll = { readonly name: 'scroll'; readonly args: readonly Argument[] };
export const MOST_SCROLL_ARGUMENTS = 4;

export type Action = Listed | Scroll;
export type ActionName = Action['name'];

export const ACTION_NAMES = [...Object.keys(GRAMMAR), 'scroll'] as readonly ActionName[];

/** The arguments of an action by name; null for names that are none, and for `scroll`. */
export function parametersOf(name: string): readonly (readonly [field: string, kind: Parameter])[] | null {
  if (!Object.hasOwn(GRAMMAR, name)) return null;
  return Object.entries(GRAMMAR[name as keyof Grammar]);
}
