/** An input as the view shows it. */
import { type DurableEvent, type Part, titleFrom } from '@parlance/protocol';
import type { InputView, SessionView, TurnView } from './shapes.ts';

/** An interrupting input is stored directly after the end of the turn that it interrupted. */
function supersededBy(view: SessionView, event: DurableEvent<'input.accepted'>): TurnView['turn'] | null {
  const last = view.entries.at(-1);
  if (last?.kind !== 'turn' || last.state.status !== 'cancelled') return null;
  return last.state.reason === 'superseded' && last.seqs.at(-1) === event.seq - 1 ? last.turn : null;
}

export function inputOf(view: SessionView, event: DurableEvent<'input.accepted'>): InputView {
  const { input, parts, dialect, key, call, data, agent, turn, at, seq } = event;
  return {
    input,
    parts,
    dialect,
    ...(key === undefined ? {} : { key }),
    ...(call === undefined ? {} : { call }),
    ...(data === undefined ? {} : { data }),
    ...(agent === undefined ? {} : { agent }),
    ...(turn === undefined ? {} : { turn }),
    superseded: supersededBy(view, event),
    at,
    seqs: [seq],
  };
}

/** Default title, like the server's: the beginning of the first input. */
export const titleOf = ([first]: readonly Part[]): string =>
  first?.type === 'text' ? titleFrom(first.text) : '';
