import { type CallId, type HistoryItem, textPart } from '@parlance/protocol';
import type { ContextItem, PromptItem } from '../ports/provider.ts';

/**
 * An imported history as prompt items, with their positions in it. Consecutive results are sorted in the order of their
 * calls.
 */
export function promptItems(
  items: readonly HistoryItem[],
): { readonly item: ContextItem; readonly index: number }[] {
  /** positions of the calls */
  const callPositions = new Map<string, number>();
  let run = 0;
  return items
    .map((item, at) => {
      if (item.type === 'call') callPositions.set(item.call, at);
      if (item.type !== 'result') run = at;
      const place = item.type === 'result' ? (callPositions.get(item.call) ?? at) : -1;
      return { item, run, place, at };
    })
    .sort((a, b) => a.run - b.run || a.place - b.place)
    .map(({ item, at }) => ({ item: promptItem(item), index: at }));
}

/** Gives each call a result and leaves out other results: a history may have been added in parts. */
export function paired(items: readonly PromptItem[]): readonly PromptItem[] {
  const open = new Map<string, PromptItem>();
  let isPaired = true;
  const found: PromptItem[] = [];
  const close = () => {
    isPaired &&= open.size === 0;
    for (const call of open.keys())
      found.push({ kind: 'result', call, parts: [textPart('aborted')], failed: true });
    open.clear();
  };
  for (const item of items) {
    if (item.kind === 'user' || item.kind === 'system') close();
    if (item.kind === 'call') open.set(item.call, item);
    if (item.kind !== 'result' || open.delete(item.call)) found.push(item);
    else isPaired = false;
  }
  close();
  return isPaired ? items : found;
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
