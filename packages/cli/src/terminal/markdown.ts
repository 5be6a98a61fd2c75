/** Renders Markdown for a terminal, from the same tokens as the console. */
import { decodeEntities } from '@parlance/ui/markdown/lex.ts';
import type { MarkedToken, Token, Tokens } from 'marked';
import { cut, hanging, padded, widthOf, wrapped } from './layout.ts';
import { safeText } from './safe-text.ts';
import type { Theme } from './theme.ts';

export type MarkdownOptions = {
  readonly width: number;
  readonly theme: Theme;
  /** highlighted code; null if the language is unknown or not loaded yet */
  readonly highlight: (code: string, language: string) => string | null;
};

/** Blocks separated by blank lines. */
export function markdownLines(tokens: readonly Token[], options: MarkdownOptions): string[] {
  const lines: string[] = [];
  for (const token of tokens as readonly MarkedToken[]) {
    const block = blockLines(token, options);
    if (block.length === 0) continue;
    if (lines.length > 0) lines.push('');
    lines.push(...block);
  }
  return lines;
}

/** Lines of one block; empty for blank space. */
export function blockLines(token: MarkedToken, options: MarkdownOptions): string[] {
  const { theme, width } = options;
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'heading': {
      const text = inline(token.tokens, theme);
      return wrapped(theme.bold(token.depth <= 2 ? theme.underline(text) : text), width);
    }
    case 'paragraph':
      return wrapped(inline(token.tokens, theme), width);
    case 'text':
      return wrapped(inline(token.tokens ?? [token], theme), width);
    case 'code':
      return codeLines(token.text, token.lang?.split(/\s/, 1)[0] ?? '', options);
    case 'blockquote': {
      const inner = markdownLines(token.tokens, { ...options, width: width - 2 });
      return inner.map((line) => `${theme.dim('│')} ${line}`);
    }
    case 'list':
      return listLines(token, options);
    case 'table':
      return tableLines(token, options);
    case 'hr':
      return [theme.dim('─'.repeat(Math.min(width, 40)))];
    case 'html':
      return token.raw.trim() === '' ? [] : wrapped(safeText(token.raw.trim()), width);
    default:
      return wrapped(inline([token], theme), width);
  }
}

/** Long lines are broken, not cut, so that no code is lost. */
function codeLines(code: string, language: string, { width, theme, highlight }: MarkdownOptions): string[] {
  const safe = safeText(code);
  const coloured = highlight(safe, language) ?? theme.cyan(safe);
  const room = Math.max(4, width - 2);
  return coloured
    .split('\n')
    .flatMap((line) => Bun.wrapAnsi(line, room, { hard: true, wordWrap: false, trim: false }).split('\n'))
    .map((line) => `  ${line}`);
}

function listLines(list: Tokens.List, options: MarkdownOptions): string[] {
  const start = typeof list.start === 'number' ? list.start : 1;
  const last = String(start + list.items.length - 1).length;
  const gap = list.loose ? [''] : [];
  return list.items.flatMap((item, index) => {
    const bullet = item.task ? `${item.checked ? '☑' : '☐'} ` : '• ';
    const mark = list.ordered ? `${String(start + index).padStart(last)}. ` : bullet;
    const done = item.task && list.ordered ? bullet : '';
    const indent = widthOf(mark + done);
    const inner = { ...options, width: Math.max(8, options.width - indent) };
    const tokens = item.tokens.filter(({ type }) => type !== 'checkbox') as MarkedToken[];
    const lines = tokens.flatMap((token, at) => {
      const block = blockLines(token, inner);
      return at > 0 && list.loose && block.length > 0 ? ['', ...block] : block;
    });
    const shown = hanging(
      lines.length === 0 ? [''] : lines,
      options.theme.dim(mark) + done,
      ' '.repeat(indent),
    );
    return index === 0 ? shown : [...gap, ...shown];
  });
}

/** Columns share the width; cells are wrapped. */
function tableLines({ header, rows, align }: Tokens.Table, { width, theme }: MarkdownOptions): string[] {
  const cells = [header, ...rows].map((row) =>
    row.map(({ tokens }) => inline(tokens, theme).replaceAll('\n', ' ')),
  );
  const widths = columnWidths(cells, width - 3 * (header.length - 1));
  const separator = theme.dim(' │ ');
  const line = (row: readonly string[]): string[] => {
    const wrappedCells = row.map((cell, at) => wrapped(cell, widths[at] ?? 1));
    const height = Math.max(...wrappedCells.map(({ length }) => length));
    return Array.from({ length: height }, (_, index) =>
      wrappedCells
        .map((lines, at) => aligned(lines[index] ?? '', widths[at] ?? 1, align[at] ?? null))
        .join(separator)
        .trimEnd(),
    );
  };
  const [head = [], ...body] = cells;
  const rule = theme.dim(widths.map((columns) => '─'.repeat(columns)).join('─┼─'));
  const shown = [...line(head.map((cell) => theme.bold(cell))), rule, ...body.flatMap(line)];
  return shown.map((one) => cut(one, width));
}

function columnWidths(cells: readonly (readonly string[])[], room: number): number[] {
  const columns = cells[0]?.length ?? 0;
  const natural = Array.from({ length: columns }, (_, at) =>
    Math.max(1, ...cells.map((row) => widthOf(row[at] ?? ''))),
  );
  const fair = Math.max(3, Math.floor(room / Math.max(1, columns)));
  const spare = natural.reduce((sum, one) => sum + Math.max(0, fair - one), 0);
  const wide = natural.filter((one) => one > fair).length;
  const max = fair + Math.floor(spare / Math.max(1, wide));
  return natural.reduce((sum, one) => sum + one, 0) <= room
    ? natural
    : natural.map((one) => Math.min(one, max));
}

function aligned(text: string, width: number, align: 'left' | 'right' | 'center' | null): string {
  const free = Math.max(0, width - widthOf(text));
  if (align === 'right') return ' '.repeat(free) + text;
  return padded(align === 'center' ? ' '.repeat(free >> 1) + text : text, width);
}

function inline(tokens: readonly Token[], theme: Theme): string {
  return tokens.map((token) => word(token as MarkedToken, theme)).join('');
}

function word(token: MarkedToken, theme: Theme): string {
  switch (token.type) {
    case 'text':
      return token.tokens ? inline(token.tokens, theme) : safeText(decodeEntities(token.text));
    case 'escape':
      return safeText(token.text);
    case 'strong':
      return theme.bold(inline(token.tokens, theme));
    case 'em':
      return theme.italic(inline(token.tokens, theme));
    case 'del':
      return theme.strike(inline(token.tokens, theme));
    case 'codespan':
      return theme.cyan(safeText(token.text));
    case 'br':
      return '\n';
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'link':
      return link(token, theme);
    case 'image':
      return `${theme.underline(safeText(token.text) || 'picture')} ${theme.dim(`(${safeText(token.href).slice(0, 200)})`)}`;
    default:
      return safeText(token.raw);
  }
}

/** Always shows the address, since the text may claim another one. */
function link({ href, tokens }: Tokens.Link, theme: Theme): string {
  const text = inline(tokens, theme);
  const address = safeText(decodeEntities(href));
  const isSame = Bun.stripANSI(text) === address || `mailto:${Bun.stripANSI(text)}` === address;
  return isSame ? theme.underline(address) : `${theme.underline(text)} ${theme.dim(`(${address})`)}`;
}
