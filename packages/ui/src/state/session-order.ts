/**
 * Sessions in the order of a list, the last change first. Adding a page or changing a session examines few of the others,
 * so that a list of 100,000 is as quick as a short one.
 */

import { isActivity, summaryChange } from '@parlance/protocol/session-summary';
import type { ActivityEvent, Session } from '@parlance/sdk';

/** `key` is owner and id, as ids are unique per owner. It is stored because lists compare keys often. */
export type ListedSession = Session & { readonly key: string };

export const keyOf = ({ id, owner }: Pick<Session, 'id' | 'owner'>): string => `${owner} ${id}`;

export type Span = { readonly after?: Session | undefined; readonly until?: Session | undefined };

export class SessionOrder {
  #byKey = new Map<string, ListedSession>();
  #all: readonly ListedSession[] = [];

  /** A new array after each change. */
  get all(): readonly ListedSession[] {
    return this.#all;
  }

  get(key: string): ListedSession | undefined {
    return this.#byKey.get(key);
  }

  /**
   * Replaces the part of the list that was read again: from the sessions after `after`, or the newest, to `until`, or the
   * end. Sessions that changed at the same moment as one of the two stay.
   */
  replace(read: readonly Session[], { after, until }: Span): void {
    const start = after ? partitionPoint(this.#all, (other) => byChange(other, after) <= 0) : 0;
    const end = until ? this.#placeOf(until) : this.#all.length;
    const listed = new Map(read.map((session) => [keyOf(session), { ...session, key: keyOf(session) }]));
    const isOther = ({ key }: ListedSession) => !listed.has(key);
    const [newer, older] = [this.#all.slice(0, start), this.#all.slice(Math.max(start, end))];
    const all = [...newer.filter(isOther), ...listed.values(), ...older.filter(isOther)];
    this.#all = all.sort(byChange);
    this.#byKey = new Map(this.#all.map((session) => [session.key, session]));
  }

  /** Adds a page from the end of the list. Sessions that are already listed stay as they are. */
  addOlder(page: readonly Session[]): void {
    const added: ListedSession[] = [];
    for (const session of page) {
      const key = keyOf(session);
      if (this.#byKey.has(key)) continue;
      const listed = { ...session, key };
      this.#byKey.set(key, listed);
      added.push(listed);
    }
    added.sort(byChange);
    // A session that was put here on its own may be older than the page.
    const [newest] = added;
    const end = newest ? this.#placeOf(newest) : this.#all.length;
    const older = this.#all.slice(end).concat(added).sort(byChange);
    this.#all = this.#all.slice(0, end).concat(older);
  }

  /** Adds a session or replaces its earlier version. */
  put(session: Session): void {
    const key = keyOf(session);
    const listed = { ...session, key };
    this.delete(key);
    this.#byKey.set(key, listed);
    this.#all = this.#all.toSpliced(this.#placeOf(listed), 0, listed);
  }

  delete(key: string): void {
    const known = this.#byKey.get(key);
    if (!known) return;
    this.#byKey.delete(key);
    this.#all = this.#all.toSpliced(this.#all.indexOf(known, this.#placeOf(known)), 1);
  }

  #placeOf(session: Session): number {
    return partitionPoint(this.#all, (other) => byChange(other, session) < 0);
  }
}

// Applies an event to a session in a list. Pure.

type Happened = Exclude<
  ActivityEvent,
  {
    type: 'ready' | 'missed' | 'settings.changed' | 'mcp.changed' | 'session.erased' | 'session.attached';
  }
>;

type State = Pick<Session, 'status' | 'waitsFor'>;

/** Returns the same object if the event is known. */
export function reduceSession(session: Session, event: Happened): Session {
  if (event.seq <= session.head) return session;
  const { status, waitsFor, ...known } = session;
  const { agent, ...change } = summaryChange(session, event);
  return {
    ...known,
    ...change,
    agent: agent?.id ?? session.agent,
    ...(stateAfter(event, status) ?? { status, ...(waitsFor && { waitsFor }) }),
    head: event.seq,
    updatedAt: isActivity(event) ? new Date(event.at).toISOString() : session.updatedAt,
  };
}

function stateAfter(event: Happened, before: Session['status']): State | null {
  switch (event.type) {
    case 'turn.started':
    case 'turn.resumed':
    case 'approval.answered':
    case 'question.answered':
    case 'tool.ended':
      return { status: 'running' };
    // Until then, a sub-agent runs for the server.
    case 'parent.informed':
      if (event.waits !== null) return { status: 'waiting', waitsFor: 'answer' };
      return event.turns.length > 0 && before === 'running' ? { status: 'idle' } : null;
    case 'approval.requested':
    case 'question.asked':
      return { status: 'waiting', waitsFor: 'answer' };
    case 'call.deferred':
      return { status: 'waiting', waitsFor: 'work' };
    case 'turn.failed':
      return { status: 'failed' };
    case 'turn.ended':
    case 'turn.cancelled':
      return { status: 'idle' };
    default:
      return null;
  }
}

const STATES: Readonly<Record<Session['status'], string>> = {
  idle: 'Idle',
  running: 'Running',
  waiting: 'Waiting for input',
  failed: 'Failed',
};

/** What lists call the state of a session. */
export const stateText = ({ status, waitsFor }: State): string =>
  status === 'waiting' && waitsFor === 'work' ? 'Sub-agents or clients work' : STATES[status];

/** Most recently changed first. */
export const byChange = (one: Session, other: Session): number =>
  one.updatedAt < other.updatedAt ? 1 : one.updatedAt > other.updatedAt ? -1 : 0;

/** The number of items at the front for which `isBefore` holds. It holds for none after the first one that fails. */
export function partitionPoint<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && isBefore(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Sessions by the day of their last change. Pure.

type Dated = Pick<Session, 'updatedAt'>;

export type DayGroup<One> = { readonly name: string; readonly sessions: readonly One[] };
/** Indexes of the sessions of a group: from `start` up to `end`, which is not one of them. */
export type DayRange = { readonly name: string; readonly start: number; readonly end: number };

const DAY_MS = 24 * 60 * 60 * 1_000;

/** `sessions` are sorted, the last change first. */
export const dayGroups = <One extends Dated>(sessions: readonly One[], now: Date): DayGroup<One>[] =>
  dayRanges(sessions, now).map(({ name, start, end }) => ({ name, sessions: sessions.slice(start, end) }));

/** As `dayGroups`. Examines few of the sessions. */
export function dayRanges(sessions: readonly Dated[], now: Date): DayRange[] {
  let start = 0;
  return daysBefore(now).flatMap(({ name, since }) => {
    const range = { name, start, end: partitionPoint(sessions, ({ updatedAt }) => updatedAt >= since) };
    start = range.end;
    return range.end > range.start ? [range] : [];
  });
}

/** Times are compared as ISO 8601; the last day has all that is older. */
function daysBefore(now: Date): { readonly name: string; readonly since: string }[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  // The day before may have 23 or 25 hours.
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  const before = (days: number) => new Date(today.getTime() - days * DAY_MS);
  return [
    { name: 'Today', since: today.toISOString() },
    { name: 'Yesterday', since: yesterday.toISOString() },
    { name: 'Previous 7 days', since: before(7).toISOString() },
    { name: 'Previous 30 days', since: before(30).toISOString() },
    { name: 'Older', since: '' },
  ];
}
