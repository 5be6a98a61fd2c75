/** Renders rows of a conversation. Uses the wording of the console. */
import type { HistoryItem, Part } from '@parlance/protocol';
import type { CompactionView, InputView, Item, TurnView } from '@parlance/sdk';
import { duration, shortNumber } from '@parlance/web/cost';
import { lexed } from '@parlance/web/lex';
import type { Row } from '@parlance/web/rows';
import { hanging, wrapped } from '../terminal/layout.ts';
import { markdownLines } from '../terminal/markdown.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Look } from './look.ts';
import { renderCall } from './render-call.ts';
import { renderReasoning, renderText } from './render-text.ts';
import { final, type Rendered, unfinished } from './rendered.ts';

export function renderRow(row: Row, look: Look): Rendered {
  switch (row.kind) {
    case 'input':
      return final(inputLines(row.input, look));
    case 'queued':
    case 'working':
      return unfinished([]);
    case 'item':
      return renderItem(row.item, look);
    case 'between':
      if (row.entry.kind === 'cleared')
        return final(
          divider(`Context cleared by ${row.entry.by}. The model no longer sees the messages above.`, look),
        );
      if (row.entry.kind === 'history') return final(historyLines(row.entry.items, look));
      return final(compactionLines(row.entry, look));
    case 'end':
      return final(endLines(row.turn, look));
  }
}

function renderItem(item: Item, look: Look): Rendered {
  switch (item.kind) {
    case 'text':
      return renderText(item, look);
    case 'reasoning':
      return renderReasoning(item, look);
    case 'call':
      return renderCall(item, look);
    case 'handoff':
      return final(
        divider(`${item.from.name} handed over to ${item.to.name}${item.reason && `: ${item.reason}`}`, look),
      );
    case 'restart':
      return final(
        divider(
          `The answer was interrupted (${item.fault.message}). Retrying, attempt ${item.attempt}.`,
          look,
        ),
      );
    case 'resumed':
      return final(divider('The server restarted and resumed the turn.', look));
    case 'compaction':
      return final(compactionLines(item, look));
  }
}

const divider = (text: string, { theme, width }: Look): string[] =>
  hanging(wrapped(safeLine(text), width - 2), '› ', '  ').map(theme.dim);

const compactionLines = ({ oldTokens, newTokens }: CompactionView, look: Look): string[] =>
  divider(`Context compacted: ${shortNumber(oldTokens)} → ${shortNumber(newTokens)} tokens`, look);

const nameOf = (part: Part): string => {
  if (part.type === 'text') return safeText(part.text);
  return part.type === 'image' ? '[image]' : `[${safeLine(part.name)}]`;
};

const inputText = (parts: readonly Part[]): string => parts.map(nameOf).join('\n');

function inputLines({ parts, call }: InputView, { theme, width }: Look): string[] {
  const text = call ? `${call.tool} ${JSON.stringify(call.input)}` : inputText(parts);
  return hanging(wrapped(safeText(text), width - 2), theme.bold(theme.cyan('❯ ')), '  ');
}

/** For an input that is still queued. */
export const queuedLine = ({ parts }: InputView): string => safeLine(inputText(parts));

function historyLines(items: readonly HistoryItem[], look: Look): string[] {
  return items.flatMap((item, index) => {
    const gap = index === 0 ? [] : [''];
    if (item.type === 'user')
      return [
        ...gap,
        ...hanging(wrapped(inputText(item.parts), look.width - 2), look.theme.bold('❯ '), '  '),
      ];
    if (item.type === 'text') return [...gap, ...markdownLines(lexed(null, item.text, true).blocks, look)];
    return [];
  });
}

const CANCELLED = {
  cancelled: 'Stopped',
  superseded: 'Interrupted by a new message',
  denied: 'Ended: a call was denied',
} as const;

function endLines({ state, usage }: TurnView, look: Look): string[] {
  const { theme, width } = look;
  const tokens = usage.inputTokens + usage.outputTokens;
  const used = `${shortNumber(usage.inputTokens)} in, ${shortNumber(usage.outputTokens)} out`;
  const line = [
    state.status === 'cancelled' ? CANCELLED[state.reason] : '',
    'durationMs' in state ? duration(state.durationMs) : '',
    tokens > 0 ? used : '',
  ];
  const failed = state.status === 'failed' ? wrapped(`✗ ${safeText(state.fault.message)}`, width) : [];
  const summary = line.filter(Boolean).join(' · ');
  return [...failed.map(theme.red), ...(summary === '' ? [] : [theme.dim(summary)])];
}
