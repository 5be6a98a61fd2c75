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

/** All arguments are optional, from the last one on. */
const SCROLL = [
  ['down', 'flag'],
  ['pages', 'amount'],
  ['index', 'number'],
] as const;

/**
 * `number` is a non-negative integer, as elements and tabs have; an `amount` may have a fraction. Of the strings, `text` is
 * for users to read, `exact` changes its meaning with any character, and `url` can be percent-encoded.
 */
export type Parameter = 'text' | 'exact' | 'url' | 'number' | 'amount' | 'flag';

type Grammar = typeof GRAMMAR;
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

export type Action = Listed | Scroll;
export type ActionName = Action['name'];

export const ACTION_NAMES = [...Object.keys(GRAMMAR), 'scroll'] as readonly ActionName[];

/** The arguments of an action by name; null for unknown names. */
export function parametersOf(name: string): readonly (readonly [field: string, kind: Parameter])[] | null {
  if (name === 'scroll') return SCROLL;
  if (!Object.hasOwn(GRAMMAR, name)) return null;
  return Object.entries(GRAMMAR[name as keyof Grammar]);
}

/** Minimum number of arguments. */
export const minArguments = (name: string): number =>
  name === 'scroll' ? 0 : (parametersOf(name)?.length ?? 0);

const KINDS: Readonly<Record<Parameter, string>> = {
  text: '"text"',
  exact: '"text"',
  url: '"url"',
  number: 'number',
  amount: 'number',
  flag: 'true or false',
};

/** Syntax of an action, for a model that got it wrong; null for unknown names. */
export function usageOf(name: string): string | null {
  const parameters = parametersOf(name);
  if (!parameters) return null;
  const optional = name === 'scroll' ? '?' : '';
  return `${name}(${parameters.map(([field, kind]) => `${field}${optional}: ${KINDS[kind]}`).join(', ')})`;
}
