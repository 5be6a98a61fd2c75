import type { CallId, HistoryItem } from '@parlance/protocol';
import type { ContextItem } from '../ports/provider.ts';

/** An imported history as prompt items. Consecutive results are sorted in the order of their calls. */
export function promptItems(items: readonly HistoryItem[]): ContextItem[] {
  /** positions of the calls */
  const callPositions = new Map<string, number>();
  let run = 0;
  return items
    .map((item, at) => {
      if (item.type === 'call') callPositions.set(item.call, at);
      if (item.type !== 'result') run = at;
      return { item, run, place: item.type === 'result' ? (callPositions.get(item.call) ?? at) : -1 };
    })
    .sort((a, b) => a.run - b.run || a.place - b.place)
    .map(({ item }) => promptItem(item));
}

/**
 * The reverse: the conversation of a session as history for another one. Leaves out summaries and sealed
 * reasoning.
 */
export const historyOf = (items: readonly ContextItem[]): HistoryItem[] => items.flatMap(historyItems);

function historyItems(item: ContextItem): HistoryItem[] {
  switch (item.kind) {
    case 'user':
      return item.parts.length > 0 ? [{ type: 'user', parts: [...item.parts] }] : [];
    case 'system':
    case 'text':
      return item.text === '' ? [] : [{ type: item.kind, text: item.text }];
    case 'call':
      return [{ type: 'call', call: item.call as CallId, tool: item.tool, input: item.input }];
    case 'result': {
      const { call, parts, failed } = item;
      return [{ type: 'result', call: call as CallId, parts: [...parts], ...(failed && { failed }) }];
    }
    case 'reasoning':
    case 'summary':
      return [];
  }
}

function promptItem(item: HistoryItem): ContextItem {
  switch (item.type) {
    case 'user':
      return { kind: 'user', parts: item.parts };
    case 'system':
    case 'text':
    case 'reasoning':
      return { kind: item.type, text: item.text };
    case 'call':
      return { kind: 'call', call: item.call, tool: item.tool, input: item.input };
    case 'result':
      return { kind: 'result', call: item.call, parts: item.parts, failed: item.failed === true };
  }
}
