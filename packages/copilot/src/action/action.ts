/** The actions of the contract's grammar: each field is one argument, in this order. */

const GRAMMAR = {
  navigate: { url: 'url' },
  search: { query: 'text' },
  goBack: {},
  goForward: {},
  wait: { seconds: 'amount' },
  click: { id: 'number' },
  setValue: { id: 'number', text: 'text' },
  findText: { text: 'text' },
  hover: { id: 'number' },
  doubleClick: { id: 'number' },
  rightClick: { id: 'number' },
  dragAndDrop: { from: 'number', to: 'number' },
  press: { key: 'exact' },
  type: { text: 'text' },
  focus: { id: 'number' },
  blur: { id: 'number' },
  check: { id: 'number' },
  uncheck: { id: 'number' },
  dropdownOptions: { id: 'number' },
  selectDropdown: { id: 'number', value: 'exact' },
  createTab: { url: 'url' },
  switch: { tabId: 'number' },
  close: { tabId: 'number' },
  getTabs: {},
  getText: { id: 'number' },
  getAttribute: { id: 'number', attribute: 'exact' },
  isVisible: { id: 'number' },
  isEnabled: { id: 'number' },
  screenshot: {},
  acceptDialog: {},
  dismissDialog: {},
  getCookies: {},
  getLocalStorage: {},
  evaluate: { code: 'exact' },
  finish: {},
  fail: {},
} as const satisfies Record<string, Record<string, Parameter>>;

/**
 * Actions that only our own extension executes, besides those of the contract: see `Page.extended`. Offsets are pixels from the
 * left and the top of an element.
 */
const EXTENDED = {
  clickAt: { id: 'number', x: 'offset', y: 'offset' },
  hoverAt: { id: 'number', x: 'offset', y: 'offset' },
  drag: {
    from: 'number',
    fromX: 'offset',
    fromY: 'offset',
    to: 'number',
    toX: 'offset',
    toY: 'offset',
  },
  draw: { id: 'number', points: 'exact' },
  numberedScreenshot: {},
} as const satisfies Record<string, Record<string, Parameter>>;

/** The second argument is optional. */
const SELECT_TEXT = [
  ['text', 'exact'],
  ['within', 'number'],
] as const;

/** All arguments are optional, from the last one on. */
const SCROLL = [
  ['down', 'flag'],
  ['pages', 'amount'],
  ['index', 'number'],
] as const;

/**
 * `number` is a non-negative integer, as elements and tabs have; an `amount` may have a fraction. Of the strings, `text` is
 * for users to read, `exact` changes its meaning with any character, and `url` can be percent-encoded. An `offset` is any number.
 */
export type Parameter = 'text' | 'exact' | 'url' | 'number' | 'amount' | 'offset' | 'flag';

type Grammar = typeof GRAMMAR & typeof EXTENDED;
type ValueOf<Kind> = Kind extends 'text' | 'exact' | 'url' ? string : number;
type Listed = {
  [Name in keyof Grammar]: { readonly name: Name } & {
    readonly [Field in keyof Grammar[Name]]: ValueOf<Grammar[Name][Field]>;
  };
}[keyof Grammar];

export type Argument = string | number | boolean;

/** Down by one page by default; `index` is the element that is scrolled. */
export type Scroll = {
  readonly name: 'scroll';
  readonly down?: boolean;
  readonly pages?: number;
  readonly index?: number;
};

/** The first occurrence on the page, or in the element `within`; an empty text is all of the element. */
export type SelectText = { readonly name: 'selectText'; readonly text: string; readonly within?: number };

export type Action = Listed | Scroll | SelectText;
export type ActionName = Action['name'];

/** The actions of the contract. */
export const ACTION_NAMES = [...Object.keys(GRAMMAR), 'scroll'] as readonly ActionName[];

/** Whether only our own extension executes it. */
export const isExtended = (name: string): boolean => name === 'selectText' || Object.hasOwn(EXTENDED, name);

/** The arguments of an action by name; null for unknown names. */
export function parametersOf(name: string): readonly (readonly [field: string, kind: Parameter])[] | null {
  if (name === 'scroll') return SCROLL;
  if (name === 'selectText') return SELECT_TEXT;
  if (!Object.hasOwn(GRAMMAR, name) && !isExtended(name)) return null;
  return Object.entries({ ...GRAMMAR, ...EXTENDED }[name as keyof Grammar]);
}

/** Minimum number of arguments. */
export const minArguments = (name: string): number =>
  name === 'scroll' ? 0 : name === 'selectText' ? 1 : (parametersOf(name)?.length ?? 0);

const KINDS: Readonly<Record<Parameter, string>> = {
  text: '"text"',
  exact: '"text"',
  url: '"url"',
  number: 'number',
  amount: 'number',
  offset: 'number',
  flag: 'true or false',
};

/** Syntax of an action, for a model that got it wrong; null for unknown names. */
export function usageOf(name: string): string | null {
  const parameters = parametersOf(name);
  if (!parameters) return null;
  const mark = (index: number): string => (index >= minArguments(name) ? '?' : '');
  return `${name}(${parameters.map(([field, kind], index) => `${field}${mark(index)}: ${KINDS[kind]}`).join(', ')})`;
}
