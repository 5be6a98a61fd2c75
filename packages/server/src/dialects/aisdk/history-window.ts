/** Which events a page of the history is made of: read from the end, so that a long chat costs no more than a short one. */
import { Fault } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/index.ts';
import { latestEvents } from '../kit/latest-events.ts';

const PAGE = 500;
/** The message of the user and the answer. */
const MESSAGES_OF_TURN = 2;

/** The end of a page: the turns that started before this event, without inputs from `hidden` on, which were replaced. */
export type Position = { readonly before: number; readonly hidden: number };

export type Window = {
  /** the first event to read, and the first that a turn or an imported history is shown from */
  readonly first: number;
  readonly from: number;
  /** nothing before it is shown */
  readonly whole: boolean;
};

/** The window of at least `limit` messages, or of all that there are. */
export async function windowOf(
  engine: Pick<Engine, 'eventsBackwards'>,
  ref: SessionRef,
  { before, hidden, limit }: Position & { readonly limit: number },
): Promise<Window> {
  let window: Window = { first: 1, from: 1, whole: true };
  for await (const { events, whole } of latestEvents(engine, { ref, head: before - 1 }, PAGE)) {
    const cleared = events.findLastIndex(({ type }) => type === 'session.cleared');
    const shown = events.slice(cleared + 1);
    const isAll = whole || cleared >= 0;
    const from = isAll ? shown[0]?.seq : firstWholeTurn(shown);
    if (from === undefined) continue;
    window = { first: shown[0]?.seq ?? 1, from, whole: isAll };
    if (isAll || turnsIn(shown, from, hidden) * MESSAGES_OF_TURN > limit) break;
  }
  return window;
}

type Events = Awaited<ReturnType<Engine['events']>>;

/** A turn is shown with its input, which may have waited. Those that follow it have theirs after it. */
function firstWholeTurn(events: Events): number | undefined {
  const inputs = new Set<string>();
  return events.find((event) => {
    if (event.type === 'input.accepted') inputs.add(event.input);
    return event.type === 'history.imported' || (event.type === 'turn.started' && inputs.has(event.input));
  })?.seq;
}

/** How many of the turns are still part of the chat. */
function turnsIn(events: Events, from: number, hiddenFrom: number): number {
  let hidden = hiddenFrom;
  let count = 0;
  for (const event of events.toReversed()) {
    if (event.type === 'session.rewound') hidden = Math.min(hidden, event.from);
    const isTurn = event.type === 'turn.started' || event.type === 'history.imported';
    if (isTurn && event.seq >= from && event.seq < hidden) count++;
  }
  return count;
}

export const LATEST: Position = { before: Number.MAX_SAFE_INTEGER, hidden: Number.MAX_SAFE_INTEGER };

export const cursorOf = ({ before, hidden }: Position): string =>
  hidden < before ? `${before}-${hidden}` : `${before}`;

/** Throws `invalid`. */
export function positionOf(cursor: string): Position {
  const [, before, hidden] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(cursor) ?? [];
  if (before === undefined) throw new Fault('invalid', 'before is not a cursor of this chat.');
  return { before: Number(before), hidden: Number(hidden ?? before) };
}
