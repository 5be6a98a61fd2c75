/** Links with which admins invite new users, who choose their passwords. The token is returned once, when it is made. */
import type { Role } from '@parlance/protocol';
import type * as api from '@parlance/protocol/api';
import type { InMilliseconds } from '../lib/in-milliseconds.ts';

export type InvitationView = InMilliseconds<api.Invitation, 'createdAt' | 'expiresAt'>;

export interface Invitations {
  /** In order of creation, without expired ones. */
  list(): Promise<InvitationView[]>;
  /**
   * Replaces an earlier invitation of the same name. Throws `invalid` for a name that is invalid or taken, and `forbidden` if there are
   * too many.
   */
  add(
    admin: string,
    wanted: { readonly name: string; readonly role: Role; readonly days?: number | undefined },
  ): Promise<InvitationView & { readonly token: string }>;
  /** Throws `not_found`. */
  revoke(id: string): Promise<void>;
  /** Throws `not_found` unless the token is valid and whoever made it is still an admin. */
  find(token: string): Promise<InvitationView>;
  /** Adds the user, once. Throws like `find`, and `invalid` for an unacceptable password and a name that was taken meanwhile. */
  accept(token: string, password: string): Promise<InvitationView>;
}
