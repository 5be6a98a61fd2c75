/** Sessions, users and preferences of one place as one object. */
import type { PreferenceStore } from '../../core/ports/preferences.ts';
import type { EventStore } from '../../core/ports/store.ts';
import type { UserStore } from '../../core/ports/users.ts';

export type Store = EventStore & UserStore & { readonly preferences: PreferenceStore };

export const joined = (events: EventStore, users: UserStore, preferences: PreferenceStore): Store => ({
  ...users,
  ...events,
  preferences,
});
