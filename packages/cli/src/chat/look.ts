/** Terminal and user settings for rendering. */
import { highlighting } from '../terminal/highlight.ts';
import type { MarkdownLook } from '../terminal/markdown.ts';
import type { Theme } from '../terminal/theme.ts';

export type Look = MarkdownLook & {
  readonly height: number;
  /** the caller, to tell their own answers from those of others */
  readonly principal: string;
};

export type LookOptions = {
  readonly theme: Theme;
  readonly principal: string;
};

/** Wider text is hard to read. */
const MAX_WIDTH = 120;

export function looks({ theme, principal }: LookOptions) {
  const highlight = highlighting(theme);
  return ({ columns, rows }: { readonly columns: number; readonly rows: number }): Look => ({
    width: Math.min(MAX_WIDTH, columns - 1),
    height: rows,
    theme,
    highlight,
    principal,
  });
}
