/** Combines the stores of one place into one object. */

import type { ApiKeyStore } from '../../core/ports/api-keys.ts';
import type { EventStore } from '../../core/ports/event-store.ts';
import type { Leases } from '../../core/ports/lease.ts';
import type { MessageSearch } from '../../core/ports/message-search.ts';
import type { ListNodes } from '../../core/ports/nodes.ts';
import type { PairingStore } from '../../core/ports/pairings.ts';
import type { PreferenceStore } from '../../core/ports/preferences.ts';
import type { RevocationStore } from '../../core/ports/revocations.ts';
import type { SettingsStore } from '../../core/ports/settings.ts';
import type { ShareStore } from '../../core/ports/shares.ts';
import type { TurnIndex } from '../../core/ports/turn-index.ts';
import type { UserStore } from '../../core/ports/users.ts';

type OtherStores = {
  readonly apiKeys: ApiKeyStore;
  readonly leases: Leases;
  readonly nodes: ListNodes;
  readonly pairings: PairingStore;
  readonly search: MessageSearch;
  readonly shares: ShareStore;
  readonly preferences: PreferenceStore;
  readonly revocations: RevocationStore;
  readonly settings: SettingsStore;
  readonly turns: TurnIndex;
};
export type Store = EventStore & UserStore & OtherStores;

export const combineStores = (events: EventStore, users: UserStore, others: OtherStores): Store => ({
  ...users,
  ...events,
  ...others,
});
