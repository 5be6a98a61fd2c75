/** Sessions as rows of one list: the pinned ones, then a heading for each day and its sessions. Pure. */
import type { Session } from '@parlance/sdk';
import { daysBefore } from './day-groups.ts';

/** `group` is the heading that a row is below. */
export type ListRow<One> =
  | { readonly kind: 'heading'; readonly group: string }
  | { readonly kind: 'session'; readonly group: string; readonly session: One };

type Listed = Pick<Session, 'updatedAt' | 'pinned'>;

/** `sessions` are sorted, the last change first. Pinned ones are listed once. */
export function sessionRows<One extends Listed>(
  sessions: readonly One[],
  pinned: readonly One[],
  now: Date,
): ListRow<One>[] {
  const dayOf = daysBefore(now);
  const rows: ListRow<One>[] = [];
  let last: string | null = null;
  const add = (group: string, session: One): void => {
    if (group !== last) rows.push({ kind: 'heading', group });
    rows.push({ kind: 'session', group, session });
    last = group;
  };
  for (const session of pinned) add('Pinned', session);
  for (const session of sessions)
    if (pinned.length === 0 || !session.pinned) add(dayOf(session.updatedAt), session);
  return rows;
}

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
