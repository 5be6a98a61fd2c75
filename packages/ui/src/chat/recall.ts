/** Brings earlier messages back with the arrow keys, as a shell does. */
import { useRef } from 'react';

/**
 * `earlier` starts with the last message. Returns the text to show for a key; null if the key does something else: a
 * message that was typed or changed is not replaced.
 */
export function recalledText(
  earlier: readonly string[],
  { key, text, at }: { readonly key: string; readonly text: string; readonly at: number },
): { readonly text: string; readonly at: number } | null {
  if (text !== (earlier[at] ?? '')) return null;
  const next = key === 'ArrowUp' ? at + 1 : key === 'ArrowDown' ? at - 1 : at;
  if (next === at || next < -1 || next >= earlier.length) return null;
  return { text: earlier[next] ?? '', at: next };
}

export function useRecall(earlier: readonly string[]): (key: string, text: string) => string | null {
  const at = useRef(-1);
  return (key, text) => {
    if (text === '') at.current = -1;
    const recalled = recalledText(earlier, { key, text, at: at.current });
    if (recalled === null) return null;
    at.current = recalled.at;
    return recalled.text;
  };
}
