/** Changes inside a turn of a view. */
import type { BlockId, Fact, Live, TurnId } from '@parlance/protocol';
import type { BlockView, Entry, Item, SessionView, TurnView } from './shapes.ts';

/** The view with the turn changed; the same view where it has no such turn, or where nothing changed. */
export function inTurn(
  view: SessionView,
  turn: TurnId,
  change: (turn: TurnView) => TurnView,
  among = view.entries,
): SessionView {
  // From the end: what happens, happens in the last turn.
  for (let index = among.length - 1; index >= 0; index--) {
    const entry = among[index] as Entry;
    if (entry.kind !== 'turn' || entry.turn !== turn) continue;
    const changed = change(entry);
    return changed === entry ? view : { ...view, entries: among.with(index, changed) };
  }
  return view;
}

export function currentTurn(view: SessionView): TurnView | null {
  const turn = view.entries.findLast((entry) => entry.kind === 'turn');
  return turn?.state.status === 'running' ? turn : null;
}

export const withItem = (turn: TurnView, item: Item): TurnView => ({
  ...turn,
  items: [...turn.items, item],
});

const isBlock = (item: Item): item is BlockView => item.kind === 'text' || item.kind === 'reasoning';
const isOpen = (item: Item): item is BlockView => isBlock(item) && item.state === 'open';

/** On the path of a token. */
export function withDelta(turn: TurnView, delta: Live<'text.delta' | 'reasoning.delta'>): TurnView {
  if (turn.state.status !== 'running') return turn;
  const last = turn.items.at(-1);
  if (last && isOpen(last) && last.block === delta.block) {
    return { ...turn, items: turn.items.with(-1, { ...last, text: last.text + delta.text }) };
  }
  const kind = delta.type === 'text.delta' ? 'text' : 'reasoning';
  const open = turn.items.find((item) => isOpen(item) && item.block === delta.block) as BlockView | undefined;
  return withOpenBlock(turn, kind, delta.block, (open?.text ?? '') + delta.text, delta.at);
}

/** The block is open with this text, and no other is: only one is streamed at a time, and one that never ended is void. */
export function withOpenBlock(
  turn: TurnView,
  kind: BlockView['kind'],
  block: BlockId,
  text: string,
  at: number,
): TurnView {
  if (turn.items.some((item) => isOpen(item) && item.block === block && item.text === text)) return turn;
  // It has ended meanwhile: what is told late must not open it again.
  if (turn.items.some((item) => isBlock(item) && item.block === block && !isOpen(item))) return turn;
  const open: BlockView = {
    kind,
    block,
    text,
    state: 'open',
    durationMs: null,
    step: turn.steps,
    at,
    seqs: [],
  };
  return withItem(withoutOpenBlock(turn), open);
}

export function withoutOpenBlock(turn: TurnView): TurnView {
  return turn.items.some(isOpen) ? { ...turn, items: turn.items.filter((item) => !isOpen(item)) } : turn;
}

export function withEndedBlock(turn: TurnView, fact: Fact<'text.ended' | 'reasoning.ended'>): TurnView {
  const ended: BlockView = {
    kind: fact.type === 'text.ended' ? 'text' : 'reasoning',
    block: fact.block,
    text: fact.text,
    state: fact.interrupted ? 'interrupted' : 'ended',
    durationMs: fact.type === 'reasoning.ended' ? fact.durationMs : null,
    step: turn.steps,
    at: fact.at,
    seqs: [fact.seq],
  };
  const last = turn.items.at(-1);
  if (last && isOpen(last)) return { ...turn, items: turn.items.with(-1, ended) };
  return withItem(withoutOpenBlock(turn), ended);
}

/** The step is asked again: what it has said so far is void. What an interruption cut off stays. */
export function withoutStep(turn: TurnView): TurnView {
  const items = turn.items.filter(
    (item) => !(isBlock(item) && item.step === turn.steps && item.state !== 'interrupted'),
  );
  return items.length === turn.items.length ? turn : { ...turn, items };
}
