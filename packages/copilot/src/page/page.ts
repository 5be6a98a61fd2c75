/** The copilot's view of a page: elements by the client's numbers, and readable text. */

export type ElementState = {
  readonly checked?: boolean;
  readonly disabled?: true;
  readonly expanded?: boolean;
  readonly selected?: boolean;
  readonly pressed?: boolean;
  readonly required?: true;
  readonly readonly?: true;
};

/** `flag` tells whether the element has the state, or undefined if it says nothing about it. */
export function elementState(
  flag: (name: keyof ElementState) => boolean | undefined,
  checked: boolean | undefined,
): ElementState {
  const [expanded, selected, pressed] = [flag('expanded'), flag('selected'), flag('pressed')];
  return {
    ...(checked !== undefined && { checked }),
    ...(flag('disabled') && { disabled: true }),
    ...(expanded !== undefined && { expanded }),
    ...(selected !== undefined && { selected }),
    ...(pressed !== undefined && { pressed }),
    ...(flag('required') && { required: true }),
    ...(flag('readonly') && { readonly: true }),
  };
}

export type ElementOption = {
  readonly value: string;
  readonly text: string;
  readonly selected?: true;
  readonly disabled?: true;
};

export type PageElement = {
  /** the client's number */
  readonly id: number;
  /** ARIA role; `generic` if there is none */
  readonly role: string;
  readonly name: string;
  /** of an input or a button: email, password, search, submit …; of a select with possibly other options: select-one */
  readonly type?: string;
  /** adjacent text: its row or card, the text before a field */
  readonly label?: string;
  /** its value; for a password only whether there is one */
  readonly value?: string;
  readonly state: ElementState;
  /** of a native select, also an empty one; at most MAX_OPTIONS */
  readonly options?: readonly ElementOption[];
  /** of a select whose options came as one text: an option is a run of its words */
  readonly optionText?: string;
  /** of an option in a native select: the number of the select */
  readonly list?: number;
  readonly href?: string;
};

export type Page = {
  readonly title: string;
  readonly url: string;
  /** all addressable elements, in page order */
  readonly elements: readonly PageElement[];
  /** how many of them, from the first on, fit the budget and are shown to a model */
  readonly shown: number;
  readonly text: string;
  /** text or elements were omitted for the budget */
  readonly truncated: boolean;
  /** the client also executes the actions of our own extension */
  readonly extended?: true;
  /** only a tree of controls came, without the text of the page; `onRequest`: the client sends the whole page on request */
  readonly textMissing?: 'onRequest' | 'unavailable';
};

/** The pages around an action. `before` is null if it is unknown. */
export type Pages = { readonly before: Page | null; readonly after: Page };

export const MAX_OPTIONS = 50;
export const MAX_OPTION_TEXT = 1_000;
export const MAX_NAME_LENGTH = 200;
export const HIDDEN_VALUE = '••••••••';

export const elementOf = (page: Page, id: number): PageElement | null =>
  page.elements.find((element) => element.id === id) ?? null;

const SELECT = 'select-one';

/** A native select: operated with `selectDropdown`, never by a click. */
export const isSelect = ({ options, type }: PageElement): boolean => options !== undefined || type === SELECT;

/** A select that may have unknown options. */
export const hasMoreOptions = ({ options, type }: PageElement): boolean =>
  type === SELECT || (options?.length ?? 0) >= MAX_OPTIONS;

/** The words of an option in a text of options, as they are written there; null if they are not in it. */
export function optionWithin(text: string, wanted: string): string | null {
  const words = wanted
    .trim()
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\s+/g, '\\s+');
  if (words === '') return null;
  return new RegExp(`(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`, 'iu').exec(text)?.[0] ?? null;
}

export const OPEN_SELECT = { type: SELECT } as const;

/** A number as clients write it into `id`: digits only, so that printing it gives the same attribute. */
export function numberedId(id: string | undefined): number | null {
  return id !== undefined && /^(?:0|[1-9]\d{0,8})$/.test(id) ? Number(id) : null;
}
