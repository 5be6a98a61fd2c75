import { expect, test } from 'bun:test';
import type { Token } from 'marked';
import { isMath, lexedWithMath } from './math-lex.ts';

/** The formulas of a text, `$$` around those on lines of their own. */
function formulas(text: string): string[] {
  const found: string[] = [];
  const visit = (tokens: readonly Token[]) => {
    for (const token of tokens) {
      if (isMath(token)) found.push(token.display ? `$$${token.tex}$$` : token.tex);
      else if ('tokens' in token && token.tokens) visit(token.tokens);
    }
  };
  visit(lexedWithMath(null, text, true).blocks);
  return found;
}

test('formulas are found between dollars and between brackets', () => {
  expect(formulas('Let $x^2$ and \\(y_1\\) be **bold $z$**.')).toEqual(['x^2', 'y_1', 'z']);
  expect(formulas('so $$x + y$$ holds, and $$ z $$')).toEqual(['$$x + y$$', '$$z$$']);
  expect(formulas('so \\[x + y\\] holds')).toEqual(['$$x + y$$']);
  expect(formulas('$$\n\\frac{1}{2}\n$$\n\n\\[ a \\]\n\ntext')).toEqual(['$$\\frac{1}{2}$$', '$$a$$']);
});

test('amounts of money, code and lone signs are no formulas', () => {
  expect(formulas('It costs $5 and $10. `$x$` and $ x $')).toEqual([]);
  expect(formulas('the pid is $$ here, and `$$x$$`')).toEqual([]);
  expect(formulas('```\n$$x$$\n```')).toEqual([]);
});
