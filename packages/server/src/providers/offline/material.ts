/** Texts in the conversation that can be quoted in answers: pages, files, passages. */
import { textOf } from '@parlance/protocol';
import type { PromptItem } from '../../core/ports/provider.ts';
import { readable } from './result.ts';

export type Material = { readonly source: string; readonly text: string };

const SHORTEST_PASSAGE = 200;
/** Maximum number of characters read per message. */
const MOST = 300_000;

/** Latest first. */
export function materialOf(earlier: readonly PromptItem[]): Material[] {
  const names = new Map<string, string>();
  const found: Material[] = [];
  for (const item of earlier) {
    if (item.kind === 'call') names.set(item.call, item.tool);
    else if (item.kind === 'result' && !item.failed) {
      const tool = names.get(item.call) ?? 'a tool';
      const text = readable({ tool, text: textOf(item.parts) });
      found.push({ source: `the result of \`${tool}\``, text });
    } else if (item.kind === 'user') {
      const text = textOf(item.parts);
      if (text.length >= SHORTEST_PASSAGE) found.push({ source: 'what you sent earlier', text });
    } else if (item.kind === 'summary') {
      found.push({ source: 'the summary of this conversation', text: item.text });
    }
  }
  let size = 0;
  return found.reverse().filter(({ text }) => {
    size += text.length;
    return text.trim() !== '' && size <= MOST;
  });
}
