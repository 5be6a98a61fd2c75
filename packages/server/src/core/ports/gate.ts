/** Who is calling: the door to `auth/` for everyone who takes a request. */
import type { Principal } from '@parlance/protocol';

export interface Gate {
  /** in open mode a caller without a token is the principal `local` */
  readonly open: boolean;
  /** Throws `unauthenticated` for a token that is not ours, expired, or of a user that is gone. */
  verify(token: string): Promise<Principal>;
  /** Throws `unauthenticated` where name or password is wrong. */
  login(name: string, password: string): Promise<{ token: string; expiresAt: number; principal: Principal }>;
}
