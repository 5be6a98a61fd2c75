/** Highlights code, in the languages of the console. The library is loaded on demand. */
import type { SyntaxNode } from '@parlance/ui/highlighter';
import type { Style, Theme } from './theme.ts';

type Highlighter = typeof import('@parlance/ui/highlighter');

/** Longer code is not highlighted. */
const MAX_HIGHLIGHTED_LENGTH = 60_000;

let loaded: Highlighter | null = null;

/** Loads asynchronously; code is plain until then. */
export async function loadHighlighter(): Promise<void> {
  loaded ??= await import('@parlance/ui/highlighter');
}

export type Highlight = (code: string, language: string) => string | null;

/** Null if the language is unknown, or the library is not loaded. */
export const highlighting =
  (theme: Theme): Highlight =>
  (code, language) =>
    loaded && language !== '' && code.length <= MAX_HIGHLIGHTED_LENGTH
      ? coloured(loaded.syntaxTree(code, language), theme)
      : null;

function coloured(tree: readonly SyntaxNode[] | null, theme: Theme): string | null {
  return tree?.map((node) => paint(node, theme)).join('') ?? null;
}

function paint(node: SyntaxNode, theme: Theme): string {
  if (typeof node === 'string') return node;
  const text = node.children.map((child) => paint(child, theme)).join('');
  const style = styleOf(node.scope?.split('.', 1)[0] ?? '', theme);
  return style ? text.split('\n').map(style).join('\n') : text;
}

function styleOf(scope: string, theme: Theme): Style | null {
  switch (scope) {
    case 'keyword':
    case 'literal':
    case 'meta':
      return theme.magenta;
    case 'string':
    case 'regexp':
    case 'addition':
      return theme.green;
    case 'comment':
    case 'quote':
      return theme.dim;
    case 'number':
    case 'symbol':
      return theme.yellow;
    case 'title':
    case 'section':
    case 'name':
      return theme.blue;
    case 'built_in':
    case 'type':
    case 'attr':
    case 'attribute':
    case 'variable':
    case 'selector':
      return theme.cyan;
    case 'deletion':
      return theme.red;
    default:
      return null;
  }
}
