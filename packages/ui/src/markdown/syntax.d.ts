/** Types of `highlighter.ts` for other packages: those of its library would add the types of a browser to them. */

/** A tree of the highlighter, before it would become HTML. */
export type SyntaxNode = string | { readonly scope?: string; readonly children: readonly SyntaxNode[] };

/** Null if the language is unknown. */
export declare function syntaxTree(code: string, language: string): readonly SyntaxNode[] | null;
