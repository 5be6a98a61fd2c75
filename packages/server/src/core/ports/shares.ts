/** Links that show a session to whoever has them. `stores/contract/shares.ts` tests every promise made here. */
import type { SessionRef } from './session-ref.ts';

export type Share = {
  /** the public part, by which it is revoked */
  readonly id: string;
  readonly ref: SessionRef;
  /** SHA-256 of the token in the link, in hex */
  readonly hash: string;
  /** the last event that the link shows */
  readonly seq: number;
  readonly createdAt: number;
};

export interface ShareStore {
  /** Null if there is none: it was revoked, or its session was erased. */
  find(hash: string): Promise<Share | null>;
  /** In the order in which they were made. */
  list(ref: SessionRef): Promise<Share[]>;
  /** Durable when it resolves with `added`. Writes nothing if the session has `most` already, or does not exist. */
  add(share: Share, most: number): Promise<'added' | 'too_many' | 'no_session'>;
  /** False if the session has none with that id. Durable when it resolves. Erasing a session removes its shares. */
  remove(ref: SessionRef, id: string): Promise<boolean>;
}
