/** Links that show a session to anyone who has them. Contract tests: `testing/stores/contract/shares.ts`. */
import type { SessionRef } from './session-ref.ts';

export type Share = {
  /** public id, used to revoke the link */
  readonly id: string;
  readonly ref: SessionRef;
  /** SHA-256 of the token in the link, in hex */
  readonly hash: string;
  /** last event that the link shows */
  readonly seq: number;
  readonly createdAt: number;
};

export interface ShareStore {
  /** Null if the link was revoked or its session was erased. */
  find(hash: string): Promise<Share | null>;
  /** In order of creation. */
  list(ref: SessionRef): Promise<Share[]>;
  /**
   * Durable when it resolves with `added`. Writes nothing if the session already has `most` links, or does
   * not exist.
   */
  add(share: Share, max: number): Promise<'added' | 'too_many' | 'no_session'>;
  /**
   * False if the session has no link with that id. Durable when it resolves. Erasing a session removes its
   * links.
   */
  remove(ref: SessionRef, id: string): Promise<boolean>;
}
