/** Users who may log in. Passwords are stored as argon2id hashes only. */
import type { Role } from '@parlance/protocol';

export type User = {
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string;
  readonly createdAt: number;
};

/** Every `put` creates a new `tokenVersion`; versions are never reused for the same name. */
export type StoredUser = User & { readonly tokenVersion: string };

export interface UserStore {
  find(name: string): Promise<StoredUser | null>;
  /** Sorted by name. */
  everyone(): Promise<StoredUser[]>;
  /** Adds the user, or replaces the one with that name. Durable when it resolves. */
  put(user: User): Promise<void>;
  /** False if the user does not exist. */
  remove(name: string): Promise<boolean>;
}
