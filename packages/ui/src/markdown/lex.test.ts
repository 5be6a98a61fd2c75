import { expect, test } from 'bun:test';
import { lexer, type Token } from 'marked';
import { isMath, type Lexed, lexed, lexedForPages } from './lex.ts';

const TEXT = `# Title

A paragraph that
goes on.
Setext
------

- one

- two
  - inner

  more of two
1. other

| a | b |
|---|---|
| 1 | 2 |

\`\`\`ts
const x = 1;

const y = 2;
\`\`\`

    indented

    code
> quoted
lazy

<div>

html</div>

text ![i](x) [l](https://e.x) **bold
still** end
`;

test('incremental parsing gives the same result as parsing at once', () => {
  for (let size = 1; size <= 40; size += 3) {
    let read: Lexed | null = null;
    for (let end = size; end < TEXT.length + size; end += size) {
      const text = TEXT.slice(0, end);
      read = lexed(read, text, false);
      expect(read.blocks as unknown).toEqual([...lexer(text)]);
    }
  }
});

test('a finished block stays the same object', () => {
  const first = lexed(null, 'one\n\ntwo\n\nthree\n\nfou', false);
  const next = lexed(first, 'one\n\ntwo\n\nthree\n\nfour', false);
  for (const index of [0, 1, 2, 3, 4]) expect(next.blocks[index]).toBe(first.blocks[index] as never);
  expect(next.blocks.at(-1)).toMatchObject({ raw: 'four' });
  const whole = lexed(next, next.text, true);
  expect(whole.blocks[0]).toBe(first.blocks[0] as never);
});

test('a reference defined at the end applies to earlier text', () => {
  const text = 'See [this].\n\nMore.\n\nAnd more.\n\n[this]: https://example.org';
  const grown = lexed(lexed(null, text.slice(0, 30), false), text, false);
  const whole = lexed(grown, text, true);
  expect(JSON.stringify(whole.blocks[0])).toContain('https://example.org');
});

test('a different text shares nothing with the previous one', () => {
  const first = lexed(null, 'one\n\ntwo', true);
  expect(lexed(first, 'other', true).blocks).toMatchObject([{ raw: 'other' }]);
});

const LONG = {
  table: `| a | b |\n|---|---|\n${'| one | **two** |\n'.repeat(2_000)}`,
  list: '1. some **words**\n'.repeat(2_000),
  paragraph: 'some **words** and `code`\n'.repeat(2_000),
  paragraphs: 'some **words** and `code`\n\n'.repeat(2_000),
  'table in a quote': `> | a | b |\n> |---|---|\n${'> | one | **two** |\n'.repeat(2_000)}`,
};

test.each(Object.entries(LONG))('a long %s is divided, and nothing of it is lost', (_, text) => {
  const { blocks } = lexed(null, text, true);
  expect(blocks.map(({ raw }) => raw).join('')).toBe(text);
  const parts = blocks[0]?.type === 'blockquote' ? (blocks[0].tokens ?? []) : blocks;
  expect(parts.length).toBeGreaterThan(4);
  expect(new Set(parts.map(({ type }) => type)).difference(new Set(['space']))).toHaveProperty('size', 1);
  for (const { raw } of parts) expect(raw.length).toBeLessThan(4_000);
});

test.each(Object.entries(LONG))('a long %s that grows is the same as parsed at once', (kind, text) => {
  if (kind === 'table in a quote') return;
  let read: Lexed | null = null;
  for (let end = 1_500; end < text.length + 1_500; end += 1_500)
    read = lexed(read, text.slice(0, end), false);
  expect(read?.blocks as unknown).toEqual(lexed(null, text, false).blocks);
});

test('a growing table of thousands of rows parses only its last part again', () => {
  const before = lexed(null, LONG.table, false);
  const after = lexed(before, `${LONG.table}| one | more |\n`, false);
  const same = after.blocks.filter((block, index) => block === before.blocks[index]);
  expect(same.length).toBeGreaterThan(after.blocks.length - 3);
  const rows = after.blocks.flatMap((block) => (block.type === 'table' ? block.rows : []));
  expect(rows).toHaveLength(2_001);
});

/** The formulas of a text, `$$` around those on lines of their own. */
function formulas(text: string): string[] {
  const found: string[] = [];
  const visit = (tokens: readonly Token[]) => {
    for (const token of tokens) {
      if (isMath(token)) found.push(token.display ? `$$${token.tex}$$` : token.tex);
      else if ('tokens' in token && token.tokens) visit(token.tokens);
    }
  };
  visit(lexedForPages(null, text, true).blocks);
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
