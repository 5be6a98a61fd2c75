/** Resolves session names for a principal. */
import { Fault, type Principal, type PrincipalId, SessionId } from '@parlance/protocol';
import type { EventStore, LookupKey, SessionIndex, SessionRecord, SessionRef } from '../ports/event-store.ts';

export class SessionResolver {
  constructor(private readonly store: SessionIndex & Pick<EventStore, 'load'>) {}

  async resolve(principal: Principal, name: string): Promise<SessionRef> {
    const parsed = SessionId.safeParse(name);
    if (!parsed.success)
      throw new Fault('invalid', 'The session id must have 1 to 200 printable characters.');
    const own: SessionRef = { owner: principal.id, id: parsed.data };
    if (principal.role !== 'admin' || (await this.#exists(own))) return own;
    // The oldest session wins, so that reusing its name cannot hijack it.
    return (await this.firstHolder(name)) ?? own;
  }

  async find(principal: Principal, name: string): Promise<SessionRef | null> {
    if (!SessionId.safeParse(name).success) return null;
    const ref = await this.resolve(principal, name);
    return (await this.#exists(ref)) ? ref : null;
  }

  async foreign(principal: Principal, name: string): Promise<boolean> {
    const parsed = SessionId.safeParse(name);
    if (!parsed.success || principal.role === 'admin') return false;
    const records = await this.store.findById(parsed.data);
    return records.length > 0 && records.every(({ ref }) => ref.owner !== principal.id);
  }

  async firstHolder(name: string): Promise<SessionRef | null> {
    const parsed = SessionId.safeParse(name);
    const [first] = parsed.success ? await this.store.findById(parsed.data) : [];
    return first?.ref ?? null;
  }

  /** Whether the approval or question was in the session, answered or not. */
  async has(ref: SessionRef, key: LookupKey): Promise<boolean> {
    return (await this.store.lookup(key, ref)) !== null;
  }

  /** Includes archived and ephemeral sessions. */
  async *all(filter: {
    owner?: PrincipalId;
    status: SessionRecord['status'][];
  }): AsyncGenerator<SessionRecord> {
    let cursor: string | undefined;
    do {
      const page = await this.store.list({
        ...filter,
        archived: 'included',
        ephemeral: 'included',
        parent: 'included',
        limit: 100,
        cursor,
      });
      yield* page.sessions;
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }

  async #exists(ref: SessionRef): Promise<boolean> {
    return (await this.store.load(ref)) !== null;
  }
}
