/** Syntax highlighting as React elements. */
import { Fragment, type ReactNode } from 'react';
import { syntaxTree } from './highlighter.ts';
import type { SyntaxNode } from './syntax.d.ts';

/** Null if the language is unknown. */
export const highlight = (code: string, language: string): ReactNode =>
  syntaxTree(code, language)?.map(element) ?? null;

function element(node: SyntaxNode, index: number): ReactNode {
  if (typeof node === 'string') return node;
  const children = node.children.map(element);
  const [scope] = node.scope?.split('.') ?? [];
  if (!scope || scope.startsWith('language:')) return <Fragment key={index}>{children}</Fragment>;
  return (
    <span key={index} className={`syntax-${scope}`}>
      {children}
    </span>
  );
}
