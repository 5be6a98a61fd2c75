/** Imports a conversation that no session has into a new one. */
import { type CallId, type HistoryItem, textPart } from '@parlance/protocol';

/** Gives every call one result after it and a unique id, as the core requires. */
export function importable(items: readonly HistoryItem[]): HistoryItem[] {
  const history: HistoryItem[] = [];
  const seen = new Set<string>();
  /** calls without a result: their id here, by the id that the client sent */
  const open = new Map<string, CallId>();
  const close = () => {
    for (const call of open.values())
      history.push({ type: 'result', call, parts: [textPart('aborted')], failed: true });
    open.clear();
  };
  for (const item of items) {
    if (item.type === 'call') {
      const call = unused(item.call, seen);
      seen.add(call);
      open.set(item.call, call);
      history.push({ ...item, call });
    } else if (item.type === 'result') {
      const call = open.get(item.call);
      open.delete(item.call);
      if (call) history.push({ ...item, call });
    } else {
      if (item.type === 'user' || item.type === 'system') close();
      history.push(item);
    }
  }
  close();
  return history;
}

function unused(id: CallId, seen: ReadonlySet<string>): CallId {
  let unique = id;
  for (let count = 2; seen.has(unique); count++) unique = `${id}_${count}` as CallId;
  return unique;
}
