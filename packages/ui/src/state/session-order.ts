/**
 * Sessions in the order of a list, the last change first. Adding a page or changing a session examines few of the others,
 * so that a list of 100,000 is as quick as a short one.
 */
import type { Session } from '@parlance/sdk';
import { partitionPoint } from './partition-point.ts';
import { byChange } from './session-reducer.ts';

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
