/** Applies hunks to the text of one file. Preserves line endings, the final newline and a byte order mark. */

import { Fault } from '@parlance/protocol';
import type { Hunk } from '@parlance/protocol/patch';
import { seekLines } from './seek.ts';

type FileLine = { readonly text: string; readonly ending: string };
type Edit = { readonly at: number; readonly removed: number; readonly lines: readonly FileLine[] };

/** Throws a `Fault` if a hunk does not match; either all hunks are applied or none. */
export function rewrite(content: string, hunks: readonly Hunk[]): string {
  const mark = content.startsWith('\ufeff') ? '\ufeff' : '';
  const lines = splitLines(content.slice(mark.length));
  const edits = placed(hunks, lines);
  const result = [...lines];
  const backwards = edits.sort((a, b) => a.at - b.at).reverse();
  for (const edit of backwards) result.splice(edit.at, edit.removed, ...edit.lines);
  return mark + joinLines(result, lines);
}

/** The number of the line, from 1, at which each hunk begins. Throws a `Fault` if one does not match. */
export const hunkLines = (content: string, hunks: readonly Hunk[]): number[] =>
  placed(hunks, splitLines(content.replace(/^\ufeff/, ''))).map(({ at }) => at + 1);

/** In the order of the hunks. */
function placed(hunks: readonly Hunk[], lines: readonly FileLine[]): Edit[] {
  const edits: Edit[] = [];
  let from = 0;
  for (const hunk of hunks) {
    const edit = place(hunk, lines, from);
    edits.push(edit);
    // Lines appended at the end say nothing about the position of the next hunk.
    if (edit.at < lines.length) from = edit.at + edit.removed;
  }
  return edits;
}

function place(hunk: Hunk, lines: readonly FileLine[], from: number): Edit {
  const texts = lines.map((line) => line.text);
  let start = from;
  let anchor = -1;
  for (const wanted of hunk.seek) {
    anchor = seekLines(texts, [wanted], { from: start });
    if (anchor < 0) throw new Fault('tool_failed', `cannot find the line ${JSON.stringify(wanted)}`);
    start = anchor + 1;
  }
  const old = hunk.lines.filter((line) => line.kind !== 'add').map((line) => line.text);
  if (old.length === 0) {
    const at = anchor < 0 || hunk.atEnd ? lines.length : anchor + 1;
    return { at, removed: 0, lines: replacement(hunk, lines, at) };
  }
  let at = seekLines(texts, old, { from: start, atEnd: hunk.atEnd });
  // Some models repeat the header line as the first line of the hunk.
  if (at < 0 && anchor >= 0) at = seekLines(texts, old, { from: anchor, atEnd: hunk.atEnd });
  if (at >= 0) return { at, removed: old.length, lines: replacement(hunk, lines, at) };
  const shorter = withoutFinalBlank(hunk);
  if (shorter) return place(shorter, lines, from);
  throw new Fault('tool_failed', `cannot find these lines:\n${old.join('\n')}`);
}

/** A final empty context line often stands for the newline at the end of the file. */
function withoutFinalBlank(hunk: Hunk): Hunk | null {
  const last = hunk.lines.at(-1);
  if (last?.text !== '' || last.kind !== 'keep' || hunk.lines.length === 1) return null;
  return { ...hunk, lines: hunk.lines.slice(0, -1) };
}

/** Context lines keep their text from the file, even if matched leniently. */
function replacement(hunk: Hunk, lines: readonly FileLine[], at: number): FileLine[] {
  const result: FileLine[] = [];
  let index = at;
  let ending = lines[at - 1]?.ending || lines[at]?.ending || lines[0]?.ending || '\n';
  for (const line of hunk.lines) {
    const original = lines[index];
    if (line.kind === 'add') {
      result.push({ text: line.text, ending });
      continue;
    }
    if (original?.ending) ending = original.ending;
    if (line.kind === 'keep' && original) result.push(original);
    index++;
  }
  return result;
}

function splitLines(content: string): FileLine[] {
  const lines: FileLine[] = [];
  for (const [whole] of content.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const ending = whole.endsWith('\r\n') ? '\r\n' : whole.endsWith('\n') ? '\n' : '';
    lines.push({ text: whole.slice(0, whole.length - ending.length), ending });
  }
  return lines;
}

function joinLines(result: readonly FileLine[], before: readonly FileLine[]): string {
  const finished = before.at(-1)?.ending !== '';
  const usual = before.find((line) => line.ending !== '')?.ending ?? '\n';
  return result
    .map(({ text, ending }, index) => {
      if (index < result.length - 1) return text + (ending || usual);
      return finished ? text + (ending || usual) : text;
    })
    .join('');
}
