/** The highlighter, loaded when a message is typed or the first code is shown. */
import { useEffect, useState } from 'react';

type Highlighter = typeof import('./highlight.tsx');

/** Longer code stays plain: highlighting would block the page. */
export const MOST_COLOURED = 60_000;

let loaded: Highlighter | null = null;

async function load(): Promise<Highlighter> {
  loaded = await import('./highlight.tsx');
  return loaded;
}

/** Evaluating the grammars takes longer than a frame: better while a message is typed than while its answer streams. */
export function useHighlighterSoon(wanted: boolean): void {
  useEffect(() => {
    if (wanted && !loaded) void load().catch(() => undefined);
  }, [wanted]);
}

/** Null until loaded. */
export function useHighlighter(wanted: boolean): Highlighter | null {
  const [highlighter, setHighlighter] = useState(loaded);
  useEffect(() => {
    if (!wanted || highlighter) return;
    let gone = false;
    void load().then((module) => {
      if (!gone) setHighlighter(module);
    });
    return () => {
      gone = true;
    };
  }, [wanted, highlighter]);
  return highlighter;
}
