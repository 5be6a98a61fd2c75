/** The highlighter, loaded when a message is typed or the first code is shown. */
import { useEffect, useState } from 'react';

type Highlighter = typeof import('./highlight.tsx');

/** Longer code stays plain: highlighting would block the page. */
export const MAX_HIGHLIGHTED_LENGTH = 60_000;

let loaded: Highlighter | null = null;

async function load(): Promise<Highlighter> {
  loaded = await import('./highlight.tsx');
  return loaded;
}

/** Loading and compiling the grammars takes longer than a frame: better while a message is typed than while its answer streams. */
export function useHighlighterSoon(isEnabled: boolean): void {
  useEffect(() => {
    if (!isEnabled || loaded) return;
    void load().then(compileGrammars, () => undefined);
  }, [isEnabled]);
}

/** One grammar in each idle period; Safari has none, so there they follow one another as timers. */
function compileGrammars({ compileNextGrammar }: Highlighter): void {
  const compile = () => {
    if (compileNextGrammar()) schedule(compile);
  };
  const schedule = window.requestIdleCallback ?? ((callback: () => void) => setTimeout(callback, 50));
  schedule(compile);
}

/** Null until loaded. */
export function useHighlighter(isEnabled: boolean): Highlighter | null {
  const [highlighter, setHighlighter] = useState(loaded);
  useEffect(() => {
    if (!isEnabled || highlighter) return;
    let isUnmounted = false;
    void load().then((module) => {
      if (!isUnmounted) setHighlighter(module);
    });
    return () => {
      isUnmounted = true;
    };
  }, [isEnabled, highlighter]);
  return highlighter;
}
