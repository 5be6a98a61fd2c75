/** Syntax highlighting as React elements, or as pieces of lines. */
import { Fragment, type ReactNode } from 'react';
import type { Piece } from '../components/approval/patch.ts';
import { syntaxTree } from './highlighter.ts';
import type { SyntaxNode } from './syntax.d.ts';

export { compileNextGrammar } from './highlighter.ts';

/** Null if the language is unknown. */
export const highlight = (code: string, language: string): ReactNode =>
  syntaxTree(code, language)?.map(element) ?? null;

function element(node: SyntaxNode, index: number): ReactNode {
  if (typeof node === 'string') return node;
  const children = node.children.map(element);
  const className = classOf(node);
  if (className === '') return <Fragment key={index}>{children}</Fragment>;
  return (
    <span key={index} className={className}>
      {children}
    </span>
  );
}

/** '' for parts without a colour of their own. */
function classOf({ scope }: Exclude<SyntaxNode, string>): string {
  const [first] = scope?.split('.') ?? [];
  return !first || first.startsWith('language:') ? '' : `syntax-${first}`;
}

/** The lines of the code, each as pieces of one colour. Null if the language is unknown. */
export function highlightedLines(code: string, language: string): readonly (readonly Piece[])[] | null {
  const tree = syntaxTree(code, language);
  if (tree === null) return null;
  const lines: Piece[][] = [[]];
  const add = (nodes: readonly SyntaxNode[], className: string): void => {
    for (const node of nodes) {
      if (typeof node !== 'string') {
        add(node.children, classOf(node) || className);
        continue;
      }
      node.split('\n').forEach((text, index) => {
        if (index > 0) lines.push([]);
        if (text !== '') lines.at(-1)?.push({ text, className });
      });
    }
  };
  add(tree, '');
  return lines;
}
