/** Sessions and users of one place as one object. */
import type { EventStore } from '../../core/ports/store.ts';
import type { UserStore } from '../../core/ports/users.ts';

export type Store = EventStore & UserStore;

export const joined = (events: EventStore, users: UserStore): Store => ({ ...users, ...events });
