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
