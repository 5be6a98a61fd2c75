/** Tracks which lines of a conversation are final and printed once, and which are redrawn. */
import type { SessionView } from '@parlance/sdk';
import { type Row, rowsOf } from '@parlance/ui/chat/rows.ts';
import { counted } from '../counted.ts';
import type { RenderContext } from './render-context.ts';
import { renderRow } from './render-row.ts';
import { type FinalPart, unfinished } from './rendered.ts';

export type RenderedLines = { readonly final: string[]; readonly live: string[] };

const SKIPPED: ReadonlySet<Row['kind']> = new Set(['queued', 'working', 'paused']);

/** Number of turns printed when resuming a session. */
const MAX_TURNS = 10;

export class Transcript {
  /** printed parts of rows that are not complete */
  readonly #parts = new Map<string, Set<string>>();
  readonly #complete = new Set<string>();
  #isFirst = true;

  /** Rows are printed in order: an incomplete row delays the final lines of later rows. */
  update(view: SessionView, context: RenderContext): RenderedLines {
    const final: string[] = this.#isFirst ? this.#skip(view, context) : [];
    const live: string[] = [];
    this.#isFirst = false;
    let isHeld = false;
    const rows = rowsOf(view);
    for (const [index, row] of rows.entries()) {
      if (this.#complete.has(row.key) || SKIPPED.has(row.kind)) continue;
      const done = renderRow(row, context);
      // The next attempt changes the line until the model answers.
      const isRetrying =
        row.kind === 'item' && row.item.kind === 'restart' && rows[index + 1]?.kind === 'working';
      const rendered = isRetrying ? unfinished(done.parts.flatMap(({ lines }) => lines)) : done;
      const parts = rendered.parts.filter(({ key }) => !this.#parts.get(row.key)?.has(key));
      for (const part of parts) addPart(isHeld ? live : final, part);
      if (!isHeld) this.#remember(row, parts, rendered.complete);
      isHeld ||= !rendered.complete;
      if (rendered.live.length > 0) live.push('', ...rendered.live);
    }
    return { final, live };
  }

  #remember({ key }: Row, parts: readonly FinalPart[], complete: boolean): void {
    if (complete) {
      this.#complete.add(key);
      this.#parts.delete(key);
      return;
    }
    const known = this.#parts.get(key) ?? new Set();
    for (const part of parts) known.add(part.key);
    this.#parts.set(key, known);
  }

  /** Prints only the end of a long session. */
  #skip(view: SessionView, { theme }: RenderContext): string[] {
    const hidden = view.entries.length - MAX_TURNS;
    if (hidden <= 0) return [];
    for (const row of rowsOf({ ...view, entries: view.entries.slice(0, hidden), queued: [] }))
      this.#complete.add(row.key);
    return [theme.dim(`… ${counted(hidden, 'earlier turn')}, shown in the console`)];
  }
}

function addPart(lines: string[], { lines: added, joined }: FinalPart): void {
  if (added.length > 0) lines.push(...(joined ? [] : ['']), ...added);
}
