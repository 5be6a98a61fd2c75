/** A page as the copilot sees it: what can be acted on, by the client's own numbers, and what can be read. */

export type ElementState = {
  readonly checked?: boolean;
  readonly disabled?: true;
  readonly expanded?: boolean;
  readonly selected?: boolean;
  readonly pressed?: boolean;
  readonly required?: true;
  readonly readonly?: true;
};

export type ElementOption = {
  readonly value: string;
  readonly text: string;
  readonly selected?: true;
  readonly disabled?: true;
};

export type PageElement = {
  /** the number that the client gave it */
  readonly id: number;
  /** ARIA's word for what it is; `generic` where there is none */
  readonly role: string;
  readonly name: string;
  /** of an input or a button: email, password, search, submit …; of a select whose options may be others: select-one */
  readonly type?: string;
  /** what a person reads beside it: the row or the card it stands in, the text before a field */
  readonly label?: string;
  /** what it holds; of a password only that there is one */
  readonly value?: string;
  readonly state: ElementState;
  /** of a native select, also of an empty one; never more than MOST_OPTIONS */
  readonly options?: readonly ElementOption[];
  /** of an option in a native select: the number of the select */
  readonly list?: number;
  readonly href?: string;
};

export type Page = {
  readonly title: string;
  readonly url: string;
  /** all that can be addressed, in the order of the page */
  readonly elements: readonly PageElement[];
  /** how many of them, from the first on, fit into the budget and are shown to a model */
  readonly shown: number;
  readonly text: string;
  /** text or elements were left out for the budget's sake */
  readonly truncated: boolean;
  /** only a tree of controls came, without the text of the page; `onRequest`: the client sends all of it if it is asked to */
  readonly textMissing?: 'onRequest' | 'unavailable';
};

export const MOST_OPTIONS = 50;
export const LONGEST_NAME = 200;
export const HIDDEN_VALUE = '••••••••';

export const elementOf = (page: Page, id: number): PageElement | null =>
  page.elements.find((element) => element.id === id) ?? null;

const SELECT = 'select-one';

/** A native select: operated with `selectDropdown`, never by a click. */
export const isSelect = ({ options, type }: PageElement): boolean => options !== undefined || type === SELECT;

/** A select that may have other options than those that are known. */
export const hasMoreOptions = ({ options, type }: PageElement): boolean =>
  type === SELECT || (options?.length ?? 0) >= MOST_OPTIONS;

export const OPEN_SELECT = { type: SELECT } as const;

/** A number as clients write it into `id`: digits alone, so that printing it gives the same attribute again. */
export function numberedId(id: string | undefined): number | null {
  return id !== undefined && /^(?:0|[1-9]\d{0,8})$/.test(id) ? Number(id) : null;
}
