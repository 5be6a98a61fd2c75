/** Terminal and user settings for rendering. */
import { highlighting } from '../terminal/highlight.ts';
import type { MarkdownOptions } from '../terminal/markdown.ts';
import type { Theme } from '../terminal/theme.ts';

export type RenderContext = MarkdownOptions & {
  readonly height: number;
  /** the caller, to tell their own answers from those of others */
  readonly principal: string;
};

export type RenderOptions = {
  readonly theme: Theme;
  readonly principal: string;
};

/** Wider text is hard to read. */
const MAX_WIDTH = 120;

export function createRenderContext({ theme, principal }: RenderOptions) {
  const highlight = highlighting(theme);
  return ({ columns, rows }: { readonly columns: number; readonly rows: number }): RenderContext => ({
    width: Math.min(MAX_WIDTH, columns - 1),
    height: rows,
    theme,
    highlight,
    principal,
  });
}

/** Final lines, which never change once printed. */
export type FinalPart = {
  /** unique in its row */
  readonly key: string;
  readonly lines: readonly string[];
  /** belongs to the lines above: no blank line in between */
  readonly joined?: boolean;
};

export type Rendered = {
  readonly parts: readonly FinalPart[];
  /** lines after the parts that may still change */
  readonly live: readonly string[];
  /** no further part follows */
  readonly complete: boolean;
};

export const final = (lines: readonly string[]): Rendered => ({
  parts: [{ key: 'all', lines }],
  live: [],
  complete: true,
});

export const unfinished = (live: readonly string[]): Rendered => ({ parts: [], live, complete: false });
