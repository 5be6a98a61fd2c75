/** The stores of one place as one object, and the wrapper of their operations. */
import type {
  ApiKeyStore,
  DecisionStore,
  InvitationStore,
  PairingStore,
  PreferenceStore,
  RevocationStore,
  SettingsStore,
  SignInStore,
  UserStore,
} from '../../accounts/store.ts';
import type {
  MessageSearch,
  SessionStore,
  ShareStore,
  TurnIndex,
  UsageStore,
  WebhookStore,
} from '../../core/ports/event-store.ts';
import type { Leases, ListNodes } from '../../core/ports/lease.ts';

export type Store = SessionStore &
  UserStore & {
    readonly apiKeys: ApiKeyStore;
    readonly decisions: DecisionStore;
    readonly invitations: InvitationStore;
    readonly leases: Leases;
    readonly nodes: ListNodes;
    readonly pairings: PairingStore;
    readonly search: MessageSearch;
    readonly shares: ShareStore;
    readonly preferences: PreferenceStore;
    readonly revocations: RevocationStore;
    readonly settings: SettingsStore;
    readonly signIns: SignInStore;
    readonly turns: TurnIndex;
    readonly usage: UsageStore;
    readonly webhooks: WebhookStore;
  };

export type Wrap = <Arguments extends unknown[], Result>(
  operation: (...given: Arguments) => Result,
) => (...given: Arguments) => Promise<Awaited<Result>>;

type Guarded<Operations> = {
  [Name in keyof Operations]: Operations[Name] extends (...given: infer Arguments) => infer Result
    ? (...given: Arguments) => Promise<Awaited<Result>>
    : never;
};

/** Wraps every operation. */
export const guarded = <Operations extends object>(operations: Operations, wrap: Wrap): Guarded<Operations> =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [name, wrap(operation)]),
  ) as Guarded<Operations>;

export const guardedEach = <Stores extends Record<string, object>>(stores: Stores, wrap: Wrap) =>
  Object.fromEntries(Object.entries(stores).map(([name, store]) => [name, guarded(store, wrap)])) as {
    [Name in keyof Stores]: Guarded<Stores[Name]>;
  };

/** Makes a closed store reject every operation, and converts errors of the database with `toFault`. */
export function closeGuard(toFault: (error: unknown) => unknown = (error) => error) {
  let open = true;
  const whileOpen: Wrap =
    <Arguments extends unknown[], Result>(operation: (...given: Arguments) => Result) =>
    async (...given: Arguments): Promise<Awaited<Result>> => {
      if (!open) throw new Error('the store is closed');
      try {
        return await operation(...given);
      } catch (error) {
        throw toFault(error);
      }
    };
  return {
    whileOpen,
    /** Returns false if it was already closed. */
    close(): boolean {
      const was = open;
      open = false;
      return was;
    },
  };
}
