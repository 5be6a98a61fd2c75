/**
 * The turns of sessions by the time of their last change. It follows the log, and is brought up to date together with the
 * index of messages: by `update` of `MessageSearch`. `testing/stores/contract/turns.ts` tests every promise made here.
 */
import type { PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import type { SessionRef } from './session-ref.ts';

export type TurnState = 'queued' | 'working' | 'waiting' | 'ended' | 'failed' | 'cancelled';

export type IndexedTurn = {
  readonly ref: SessionRef;
  readonly id: TurnId;
  readonly state: TurnState;
  /** when it came into this state, or was asked for another approval */
  readonly at: number;
  /** the numbers of the event that accepted its input, and of the one that changed it last */
  readonly first: number;
  readonly last: number;
};

export type TurnFilter = {
  readonly owner: PrincipalId;
  /** without it, turns of archived sessions are left out */
  readonly session?: SessionId | undefined;
  readonly state?: TurnState | undefined;
  /** changed after this time */
  readonly since?: number | undefined;
};

export type TurnQuery = TurnFilter & {
  readonly limit: number;
  /** `next` of the previous page */
  readonly cursor?: string | undefined;
};

export type TurnPage = { readonly turns: readonly IndexedTurn[]; readonly next: string | null };

export interface TurnIndex {
  /** The one that changed last first. Throws `invalid` for a cursor that is none. */
  list(query: TurnQuery): Promise<TurnPage>;
  count(filter: TurnFilter): Promise<number>;
  find(ref: SessionRef, id: TurnId): Promise<IndexedTurn | null>;
}
