/** Sessions as rows of one list: the pinned ones, then a heading for each day and its sessions. Pure. */
import type { Session } from '@parlance/sdk';
import { dayRanges } from '@parlance/ui/state/day-groups.ts';

/** `group` is the heading that a row is below. */
export type ListRow<One> =
  | { readonly kind: 'heading'; readonly group: string }
  | { readonly kind: 'session'; readonly group: string; readonly session: One };

export type ListRows<One> = { readonly count: number; at(index: number): ListRow<One> | undefined };

type Sessions<One> = { readonly sorted: readonly One[]; readonly pinned: readonly One[] };

/**
 * Rows are made when they are read, so that a list of any length is ready at once. `sorted` has the last change first
 * and none of the pinned sessions.
 */
export function sessionRows<One extends Pick<Session, 'updatedAt'>>(
  { sorted, pinned }: Sessions<One>,
  now: Date,
): ListRows<One> {
  const groups = [
    ...(pinned.length > 0 ? [{ name: 'Pinned', of: pinned, start: 0, end: pinned.length }] : []),
    ...dayRanges(sorted, now).map((range) => ({ ...range, of: sorted })),
  ];
  return {
    count: groups.reduce((sum, { start, end }) => sum + 1 + end - start, 0),
    at(index) {
      let rest = index;
      for (const { name: group, of, start, end } of groups) {
        if (rest === 0) return { kind: 'heading', group };
        const session = rest <= end - start ? of[start + rest - 1] : undefined;
        if (session) return { kind: 'session', group, session };
        rest -= 1 + end - start;
      }
      return undefined;
    },
  };
}

/** Rows that are compared after a change, and how far they may have moved. */
const COMPARED = 20;
const FARTHEST = 50;

/**
 * By how many rows those from `index` on have moved, because others came or went above them. Two neighbours that moved
 * together are needed: one alone may be a session that has changed itself.
 */
export function shiftOf<One extends { readonly key: string }>(
  before: ListRows<One>,
  after: ListRows<One>,
  index: number,
): number {
  const isSame = (place: number, shift: number) => keyOf(before.at(place)) === keyOf(after.at(place + shift));
  for (let place = index; place < index + COMPARED; place++)
    for (let distance = 0; distance <= FARTHEST; distance++)
      for (const shift of [distance, -distance])
        if (isSame(place, shift) && isSame(place + 1, shift)) return shift;
  return 0;
}

const keyOf = (row: ListRow<{ readonly key: string }> | undefined): string | undefined =>
  row?.kind === 'session' ? row.session.key : row?.group;

/** Rows in view that are below one heading. Without a heading, the group begins above. */
export type Section<Item> = {
  readonly group: string;
  readonly heading: Item | null;
  readonly items: readonly Item[];
};

export function sectionsOf<Item extends { readonly row: ListRow<unknown> }>(
  inView: readonly Item[],
): Section<Item>[] {
  const sections: { group: string; heading: Item | null; items: Item[] }[] = [];
  for (const item of inView) {
    const { group, kind } = item.row;
    const last = sections.at(-1);
    if (kind === 'heading') sections.push({ group, heading: item, items: [] });
    else if (last?.group === group) last.items.push(item);
    else sections.push({ group, heading: null, items: [item] });
  }
  return sections;
}
