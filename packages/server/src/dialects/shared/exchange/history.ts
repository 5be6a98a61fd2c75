/** A conversation that no session holds, as the beginning of a new one. */
import { type CallId, type HistoryItem, textPart } from '@parlance/protocol';

/** Every call has one result after it and ids are used once, as the core needs it. */
export function importable(items: readonly HistoryItem[]): HistoryItem[] {
  const history: HistoryItem[] = [];
  const seen = new Set<string>();
  /** the calls without a result: their ids here, by their ids on the wire */
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
