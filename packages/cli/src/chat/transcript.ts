/** Tracks which lines of a conversation are final and printed once, and which are redrawn. */
import type { SessionView } from '@parlance/sdk';
import { type Row, rowsOf } from '@parlance/web/rows';
import { counted } from '../counted.ts';
import type { RenderContext } from './render-context.ts';
import { renderRow } from './render-row.ts';
import type { FinalPart } from './rendered.ts';

export type RenderedLines = { readonly final: string[]; readonly live: string[] };

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
    for (const row of rowsOf(view)) {
      if (this.#complete.has(row.key) || row.kind === 'queued' || row.kind === 'working') continue;
      const rendered = renderRow(row, context);
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
