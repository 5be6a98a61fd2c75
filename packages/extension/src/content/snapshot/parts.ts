/** The parts of a snapshot before it is cut to its size. */
import type { Markup } from './markup.ts';
import type { Rank } from './rank.ts';

export type Separator = '' | ' ' | '<br>';

export type Leaf = {
  readonly kind: 'leaf';
  readonly html: string;
  /** of an interactive element; `html` is its content then */
  readonly element: Element | null;
  readonly markup: Markup | null;
  readonly rank: Rank;
  /** what separates it from the part before */
  readonly before: Separator;
};

export type Branch = {
  readonly kind: 'branch';
  readonly open: string;
  readonly close: string;
  /** an interactive element that contains others */
  readonly element: Element | null;
  readonly markup: Markup | null;
  readonly children: (Leaf | Branch)[];
};
