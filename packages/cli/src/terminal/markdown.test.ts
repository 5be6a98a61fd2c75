import { expect, test } from 'bun:test';
import { lexer } from 'marked';
import { widthOf } from './layout.ts';
import { markdownLines } from './markdown.ts';
import { COLOURED, PLAIN } from './theme.ts';

const plain = (text: string, width = 40) =>
  markdownLines(lexer(text), { width, theme: PLAIN, highlight: () => null }).join('\n');

test('blocks are separated by blank lines', () => {
  expect(plain('# Title\nText `code` &amp; *more*.\n\n---\n> quote\n> goes on')).toBe(
    `Title\n\nText code & more.\n\n${'─'.repeat(40)}\n\n│ quote\n│ goes on`,
  );
});

test('lists are nested and numbered, and continue under their text', () => {
  expect(plain('9. nine is a long line that wraps\n10. ten\n    - inner\n\n- [x] done\n- [ ] open', 24)).toBe(
    [' 9. nine is a long line', '    that wraps', '10. ten', '    • inner', '', '☑ done', '☐ open'].join(
      '\n',
    ),
  );
});

test('tables fit into the width', () => {
  const table = '| name | about |\n|---|---:|\n| one | a long text about one that wraps |\n| 安宁 | 2 |';
  for (const width of [20, 40, 80])
    for (const line of plain(table, width).split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(width);
  expect(plain('| a | b |\n|---|---:|\n| 安宁 | 2 |')).toBe('a    │ b\n─────┼──\n安宁 │ 2');
});

test('the address of a link is shown', () => {
  expect(plain('[docs](https://evil.example) <https://a.example>', 60)).toBe(
    'docs (https://evil.example) https://a.example',
  );
});

test('long lines of code are broken, and nothing is lost', () => {
  const code = 'x'.repeat(100);
  expect(plain(`\`\`\`\n${code}\n\`\`\``, 30).replaceAll(/\s/g, '')).toBe(code);
});

test('escape sequences in text, code and addresses are removed', () => {
  const hostile =
    'a\x1b[31mb `c\x1b]0;x\x07d`\n\n```\ne\x1b[2Jf\n```\n\n[g](https://x.example/\x1b[1A) <b\x1b[5m>\n\n&#27;[31m';
  expect(plain(hostile)).not.toContain('\x1b');
});

test('colours end with their line', () => {
  const lines = markdownLines(lexer('**bold text that is wrapped** end'), {
    width: 12,
    theme: COLOURED,
    highlight: () => null,
  });
  for (const line of lines.slice(0, -1)) expect(line).toEndWith('\x1b[22m');
});
