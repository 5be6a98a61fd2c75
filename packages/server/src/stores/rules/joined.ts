/** Sessions and users of one place as one object. */
import type { EventStore, SessionFilter, SessionPage } from '../../core/ports/store.ts';
import type { User, UserStore } from '../../core/ports/users.ts';

export type Store = EventStore & UserStore;

/** Both ports have a `list`. They are told apart by the filter: sessions are listed with one, users without. */
export function joined(events: EventStore, users: UserStore): Store {
  function list(filter: SessionFilter): Promise<SessionPage>;
  function list(): Promise<User[]>;
  function list(filter?: SessionFilter): Promise<SessionPage | User[]> {
    return filter ? events.list(filter) : users.list();
  }
  return { ...users, ...events, list };
}
