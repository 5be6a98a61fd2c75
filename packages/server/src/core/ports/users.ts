/** Who may log in. Passwords are kept as argon2id hashes only. */
import type { Role } from '@parlance/protocol';

export type User = {
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string;
  readonly createdAt: number;
};

/** `generation` is the store's own: every `put` begins another, and no two users of one name ever share one. */
export type KeptUser = User & { readonly tokenVersion: string };

export interface UserStore {
  find(name: string): Promise<KeptUser | null>;
  /** By name. */
  everyone(): Promise<KeptUser[]>;
  /** Adds the user, or replaces the one of that name. Durable when it resolves. */
  put(user: User): Promise<void>;
  /** False where there was none. */
  remove(name: string): Promise<boolean>;
}
