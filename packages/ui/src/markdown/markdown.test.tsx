import { expect, test } from 'bun:test';
import { renderToStaticMarkup } from 'react-dom/server';
import { highlight } from './highlight.tsx';
import { type Lexed, lexedForPages } from './lex.ts';
import { Markdown } from './markdown.tsx';

const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

test('renders common Markdown', () => {
  const shown = html('# Title\n\nA **bold** word, `x < y` &amp; ~~gone~~.\n\n1. one\n2. two\n\n> said');
  expect(shown).toContain('<h3 class="md-h1" dir="auto">Title</h3>');
  expect(shown).toContain('<strong>bold</strong>');
  expect(shown).toContain('<code>x &lt; y</code> &amp; <del>gone</del>');
  expect(shown).toContain('<ol dir="auto" start="1"><li>one</li><li>two</li></ol>');
  expect(shown).toContain('<blockquote><p dir="auto">said</p></blockquote>');
});

test('renders keys, indices and marks; without an end or with attributes they stay text', () => {
  expect(html('<kbd>Ctrl</kbd>+<kbd>K</kbd> and H<sub>*2*</sub>O')).toContain(
    '<kbd>Ctrl</kbd>+<kbd>K</kbd> and H<sub><em>2</em></sub>O',
  );
  expect(html('a <sub>b')).toContain('a &lt;sub&gt;b');
  expect(html('a <kbd onclick=x>b</kbd>')).toContain('a &lt;kbd onclick=x&gt;b&lt;/kbd&gt;');
});

test('renders thousands of tags without an end, or inside each other', () => {
  expect(html(`a ${'<sub>'.repeat(30_000)}`)).toContain('a &lt;sub&gt;');
  const nested = html(`a ${'<sub>'.repeat(5_000)}b${'</sub>'.repeat(5_000)}`);
  expect(nested).toContain('a <sub>&lt;sub&gt;');
  expect(html(`a ${'<sub>b</sub>'.repeat(10_000)}`).split('<sub>b</sub>')).toHaveLength(10_001);
});

test('renders a table of thousands of rows', () => {
  const shown = html(`| a |\n|---|\n${'| b |\n'.repeat(5_000)}`);
  expect(shown.split('<td').length - 1).toBe(5_000);
});

test('renders tables and task lists', () => {
  const shown = html('| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n- [ ] open');
  expect(shown).toContain('<td class="md-right md-short" dir="auto">2</td>');
  expect(shown).toContain('aria-label="Done" checked=""');
});

const SCRIPTS = [
  '<script>alert(1)</script>',
  'before <script>alert(1)</script> after',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<iframe src="https://evil.example"></iframe>',
  '<details open ontoggle=alert(1)>',
  '<style>*{display:none}</style>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '```html\n<script>alert(1)</script>\n```',
  '| <img src=x onerror=alert(1)> |\n|---|\n| <b onclick=alert(1)>x</b> |',
];

test.each(SCRIPTS)('HTML from a model stays text: %s', (text) => {
  const shown = html(text);
  expect(shown).not.toMatch(/<(script|img|svg\/|iframe|style|details|b|a)\b/i);
  // No event handler attributes; in the source, such text follows an escaped bracket.
  expect(shown.replace(/&lt;.*?&gt;/gs, '')).not.toMatch(/\son\w+=/i);
});

const UNFOLLOWED = [
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](java&#10;script:alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:x)',
  '[x](file:///etc/passwd)',
  '[x](#/admin)',
  '[x](/v1/sessions)',
  '[x](//evil.example)',
  '<javascript:alert(1)>',
  '[x]\n\n[x]: javascript:alert(1)',
];

test.each(UNFOLLOWED)('does not link addresses outside the web: %s', (text) => {
  expect(html(text)).not.toContain('href=');
});

test('links open in a new tab without referrer', () => {
  expect(html('[x](https://example.org/a?b=1&amp;c=2)')).toContain(
    '<a href="https://example.org/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer nofollow"',
  );
  expect(html('see https://example.org')).toContain('href="https://example.org/"');
  expect(html('<mailto:ada@example.org>')).toContain('href="mailto:ada@example.org"');
});

test('does not load a remote image: shows a link', () => {
  for (const text of [
    '![a cat](https://evil.example/cat.png)',
    '![a cat][c]\n\n[c]: https://evil.example/cat.png',
  ]) {
    const shown = html(text);
    expect(shown).not.toMatch(/<img|src=/);
    expect(shown).toContain('href="https://evil.example/cat.png"');
    expect(shown).toContain('a cat');
  }
});

test('shows an inline image unless it can contain scripts', () => {
  expect(html('![dot](data:image/png;base64,iVBORw0KGgo=)')).toContain('<img');
  expect(html('![dot](data:image/svg+xml;base64,PHN2Zz4=)')).not.toContain('<img');
  expect(html('![dot](javascript:alert(1))')).not.toMatch(/<img|href=/);
});

test('highlighting does not change the code', () => {
  const code = 'const a = `<b>&amp;</b>`; // "done"\n';
  const shown = renderToStaticMarkup(highlight(code, 'ts'));
  expect(shown).toContain('<span class="syntax-keyword">const</span>');
  expect(shown).not.toContain('<b>');
  const words = shown
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
  expect(words.replaceAll('&quot;', '"').replaceAll('&amp;', '&')).toBe(code);
  expect(highlight('x', 'no-such-language')).toBeNull();
});

test('renders sections that open, with Markdown and others inside', () => {
  const shown = html(
    'before\n\n<details>\n<summary>The **log**</summary>\n\n- one\n\n<details open><summary>Inner</summary>\ntwo\n</details>\n\n</details>\n\nafter',
  );
  expect(shown).toContain(
    '<details class="md-details"><summary dir="auto">The <strong>log</strong></summary><ul',
  );
  expect(shown).toContain(
    '<details class="md-details" open=""><summary dir="auto">Inner</summary><p dir="auto">two</p></details></details>',
  );
  expect(shown).toMatch(/<p dir="auto">after<\/p>/);
  expect(html('<details onclick=x><summary>a</summary></details>')).not.toContain('<details');
});

test('a section is the same however it is streamed, and thousands of them end', () => {
  const text =
    'a\n\n<details>\n<summary>Log</summary>\n\nfirst\n\n```\n</x>\n```\n\nlast\n</details>\n\nb\n\nc';
  let lexed: Lexed | null = null;
  for (let end = 1; end < text.length; end++) lexed = lexedForPages(lexed, text.slice(0, end), false);
  const streamed = lexedForPages(lexed, text, true);
  expect(streamed.blocks.filter(({ type }) => type !== 'space').map(({ type }) => type)).toEqual([
    'paragraph',
    'details',
    'paragraph',
    'paragraph',
  ]);
  expect(html('<details>\n'.repeat(2_000))).toContain('&lt;details&gt;');
  expect(html('<details>\n</details>\n'.repeat(2_000)).split('</details>')).toHaveLength(2_001);
});

test('renders footnotes and their references; without a footnote it is text', () => {
  const shown = html(
    'It is so[^1], and [^abc] is a pattern.\n\n[^1]: Because of *this*\nand that.\n\nThe end.',
  );
  expect(shown).toContain(
    '<sup><button type="button" class="md-note" data-note="1" aria-label="Footnote 1">1</button></sup>',
  );
  expect(shown).toContain('and [^abc] is a pattern');
  expect(shown).toContain('Because of <em>this</em>\nand that.</p>');
  expect(shown).toContain('<p dir="auto">The end.</p>');
  expect(html('Word[^1].\n\n[^1]: single')).toContain('data-footnote="1"');
});
