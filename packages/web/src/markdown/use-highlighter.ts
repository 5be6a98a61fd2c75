/** The highlighter, loaded when the first code is shown. */
import { useEffect, useState } from 'react';

type Highlighter = typeof import('./highlight.tsx');

/** Longer code stays plain: highlighting would block the page. */
export const MOST_COLOURED = 60_000;

let loaded: Highlighter | null = null;

/** Null until loaded. */
export function useHighlighter(wanted: boolean): Highlighter | null {
  const [highlighter, setHighlighter] = useState(loaded);
  useEffect(() => {
    if (!wanted || highlighter) return;
    let gone = false;
    void import('./highlight.tsx').then((module) => {
      loaded = module;
      if (!gone) setHighlighter(module);
    });
    return () => {
      gone = true;
    };
  }, [wanted, highlighter]);
  return highlighter;
}
