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
  /** of an input or a button: email, password, search, submit … */
  readonly type?: string;
  /** what a person reads beside it: the row or the card it stands in, the text before a field */
  readonly label?: string;
  /** what it holds; of a password only that there is one */
  readonly value?: string;
  readonly state: ElementState;
  /** of a native select, also of an empty one; never more than MOST_OPTIONS */
  readonly options?: readonly ElementOption[];
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
};

export const MOST_OPTIONS = 50;
export const LONGEST_NAME = 200;
export const HIDDEN_VALUE = '••••••••';

export const elementOf = (page: Page, id: number): PageElement | null =>
  page.elements.find((element) => element.id === id) ?? null;

/** A number as clients write it into `id`: digits alone, so that printing it gives the same attribute again. */
export function numberedId(id: string | undefined): number | null {
  return id !== undefined && /^(?:0|[1-9]\d{0,8})$/.test(id) ? Number(id) : null;
}
