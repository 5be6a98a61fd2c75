/** A text field: text and cursor, changed by keys, and how it is drawn. Pure; the cursor moves by grapheme. */
import { widthOf } from './layout.ts';
import type { Cursor, Frame } from './screen.ts';

export type Draft = { readonly text: string; readonly cursor: number };

export const EMPTY_DRAFT: Draft = { text: '', cursor: 0 };
export const draftOf = (text: string): Draft => ({ text, cursor: text.length });

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** A pasted text may be long: only characters near the cursor are examined. */
const NEAR = 64;

function previous(text: string, at: number): number {
  const from = Math.max(0, at - NEAR);
  let last = from;
  for (const { index } of GRAPHEMES.segment(text.slice(from, at))) last = from + index;
  return last;
}

function next(text: string, at: number): number {
  const [first] = GRAPHEMES.segment(text.slice(at, at + NEAR));
  return at + (first?.segment.length ?? 0);
}

const wordStart = (text: string, at: number): number =>
  text.slice(0, at).replace(/[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u, '').length;
const wordEnd = (text: string, at: number): number =>
  at + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(at))?.[0].length ?? 0);
const blankStart = (text: string, at: number): number => text.slice(0, at).replace(/\S*\s*$/, '').length;
const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;
const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
};

export const inserted = ({ text, cursor }: Draft, added: string): Draft => ({
  text: text.slice(0, cursor) + added + text.slice(cursor),
  cursor: cursor + added.length,
});

const moved = ({ text }: Draft, cursor: number): Draft => ({ text, cursor });

function removed({ text }: Draft, from: number, to: number): Draft {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}

type Move = (draft: Draft) => Draft;

const left: Move = (draft) => moved(draft, previous(draft.text, draft.cursor));
const right: Move = (draft) => moved(draft, next(draft.text, draft.cursor));
const home: Move = (draft) => moved(draft, lineStart(draft.text, draft.cursor));
const end: Move = (draft) => moved(draft, lineEnd(draft.text, draft.cursor));
const wordLeft: Move = (draft) => moved(draft, wordStart(draft.text, draft.cursor));
const wordRight: Move = (draft) => moved(draft, wordEnd(draft.text, draft.cursor));
const backspace: Move = (draft) => removed(draft, previous(draft.text, draft.cursor), draft.cursor);
const wordBack: Move = (draft) => removed(draft, blankStart(draft.text, draft.cursor), draft.cursor);
const deleteNext: Move = (draft) => removed(draft, draft.cursor, next(draft.text, draft.cursor));

/** Deletes the line feed at the end of a line. */
const toEnd: Move = (draft) => {
  const to = lineEnd(draft.text, draft.cursor);
  return removed(draft, draft.cursor, to === draft.cursor ? Math.min(to + 1, draft.text.length) : to);
};

const MOVES: Readonly<Record<string, Move>> = {
  left,
  'ctrl-b': left,
  right,
  'ctrl-f': right,
  home,
  'ctrl-a': home,
  end,
  'ctrl-e': end,
  'ctrl-left': wordLeft,
  'alt-left': wordLeft,
  'alt-b': wordLeft,
  'ctrl-right': wordRight,
  'alt-right': wordRight,
  'alt-f': wordRight,
  backspace,
  'ctrl-h': backspace,
  'shift-backspace': backspace,
  delete: deleteNext,
  'ctrl-w': wordBack,
  'alt-backspace': wordBack,
  'ctrl-backspace': wordBack,
  'ctrl-u': (draft) => removed(draft, lineStart(draft.text, draft.cursor), draft.cursor),
  'ctrl-k': toEnd,
  'alt-d': (draft) => removed(draft, draft.cursor, wordEnd(draft.text, draft.cursor)),
};

/** The draft after a key; null if the key is not an editing key. */
export const edited = (draft: Draft, key: string): Draft | null => MOVES[key]?.(draft) ?? null;

/** One line up or down; null if there is none. */
export function vertically({ text, cursor }: Draft, direction: 'up' | 'down'): Draft | null {
  const start = lineStart(text, cursor);
  const column = cursor - start;
  if (direction === 'up') {
    if (start === 0) return null;
    const above = lineStart(text, start - 1);
    return { text, cursor: Math.min(above + column, start - 1) };
  }
  const below = lineEnd(text, cursor) + 1;
  if (below > text.length) return null;
  return { text, cursor: Math.min(below + column, lineEnd(text, below)) };
}

// Renders a text field: prompt, text wrapped at the width, and cursor.

export type FieldOptions = {
  readonly prompt: string;
  readonly width: number;
  /** maximum number of lines shown, around the cursor */
  readonly rows: number;
};

const TAB = '    ';

export function fieldFrame({ text, cursor }: Draft, { prompt, width, rows }: FieldOptions): Frame {
  const indent = widthOf(prompt);
  const room = Math.max(4, width - indent - 1);
  const lines: string[] = [''];
  let column = 0;
  let at: Cursor = { row: 0, column: indent };
  for (const { segment, index } of GRAPHEMES.segment(`${text} `)) {
    const shown = segment === '\t' ? TAB : segment;
    const columns = segment === '\n' ? 0 : widthOf(shown);
    if (column + columns > room) {
      lines.push('');
      column = 0;
    }
    if (index === cursor) at = { row: lines.length - 1, column: indent + column };
    if (index === text.length) break;
    if (segment === '\n') {
      lines.push('');
      column = 0;
    } else {
      lines[lines.length - 1] += shown;
      column += columns;
    }
  }
  const first = Math.max(0, at.row - rows + 1);
  const blank = ' '.repeat(indent);
  return {
    lines: lines.slice(first, first + rows).map((line, row) => (first + row === 0 ? prompt : blank) + line),
    cursor: { row: at.row - first, column: at.column },
  };
}
