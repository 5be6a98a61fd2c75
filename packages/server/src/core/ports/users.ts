/** Who may log in. Passwords are kept as argon2id hashes only. */
import type { Role } from '@parlance/protocol';

export type User = {
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string;
  readonly createdAt: number;
};

export interface UserStore {
  find(name: string): Promise<User | null>;
  /** By name. */
  everyone(): Promise<User[]>;
  /** Adds the user, or replaces the one of that name. Durable when it resolves. */
  put(user: User): Promise<void>;
  /** False where there was none. */
  remove(name: string): Promise<boolean>;
}
