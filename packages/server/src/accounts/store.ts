/** Users who may log in. Passwords are stored as argon2id hashes only. */
import type { JsonObject, PrincipalId, Role } from '@parlance/protocol';

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

// Long-lived keys of users, for clients that cannot log in. Only their hashes are stored.

export type ApiKey = {
  /** public part of the key, used to look it up */
  readonly id: string;
  /** the user that the key acts as */
  readonly owner: string;
  /** name chosen by the owner */
  readonly name: string;
  /** upper bound of its permissions; it never grants more than the owner's current role */
  readonly role: Role;
  /** dialects that it may be used with; null for all */
  readonly dialects: readonly string[] | null;
  /** whether it may manage users, passwords, origins and MCP servers, which otherwise needs a login */
  readonly administration: boolean;
  /** SHA-256 of the whole key, in hex */
  readonly hash: string;
  readonly createdAt: number;
  /** when it expires; null for never */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
};

/** Contract tests: `testing/stores/contract/api-keys.ts`. */
export interface ApiKeyStore {
  find(id: string): Promise<ApiKey | null>;
  /** In order of creation, then by id; of one owner, or of all. */
  list(owner?: string): Promise<ApiKey[]>;
  /**
   * Durable when it resolves with `added`. Writes nothing if the owner already has `most` keys (also under
   * concurrency), or if the user does not exist. Ids must be unique.
   */
  add(key: ApiKey, max: number): Promise<'added' | 'too_many' | 'no_user'>;
  /**
   * False if the key does not exist or does not belong to the given owner. Durable when it resolves, and
   * `RevocationStore.follow` reports it. Removing a user removes all of the user's keys in the same write.
   */
  remove(id: string, owner?: string): Promise<boolean>;
  /** Records when keys were last used (id → time). Ignores unknown ids and times before the stored one. */
  used(times: ReadonlyMap<string, number>): Promise<void>;
}

// Browsers in which users have signed in to the console. Only hashes of their secrets are stored.

export type SignIn = {
  /** public part, used to look it up */
  readonly id: string;
  readonly owner: string;
  /** of the owner when signing in: every change of the user ends the sign-in */
  readonly tokenVersion: string;
  /** SHA-256 of the key that the page sends, in hex */
  readonly keyHash: string;
  /** SHA-256 of the secret in the cookie, in hex */
  readonly hash: string;
  /** of the secret that it has replaced */
  readonly previousHash: string | null;
  /** whether a request with the current secret has arrived */
  readonly seen: boolean;
  readonly createdAt: number;
  /** when the secret was last replaced */
  readonly rotatedAt: number;
  readonly expiresAt: number;
};

export type Rotation = Pick<SignIn, 'hash' | 'previousHash' | 'rotatedAt' | 'expiresAt'>;

/** Contract tests: `testing/stores/contract/sign-ins.ts`. */
export interface SignInStore {
  find(id: string): Promise<SignIn | null>;
  /**
   * Durable when it resolves with true; false if the user does not exist or has another token version. Removes sign-ins of the
   * owner that had ended when this one was created, and the oldest beyond `max`.
   */
  add(signIn: SignIn, max: number): Promise<boolean>;
  /** Replaces the secret if its hash is still `expected`, and sets `seen` to false. Durable when it resolves with true. */
  rotate(id: string, expected: string, rotation: Rotation): Promise<boolean>;
  /** A request with the secret has arrived. Does nothing if it is not the current one. */
  markSeen(id: string, hash: string): Promise<void>;
  /**
   * Durable when it resolves with true, and `RevocationStore.follow` reports it. Removing a user removes all sign-ins of the user in
   * the same write.
   */
  remove(id: string): Promise<boolean>;
}

// Invitations of new users. Only hashes of their links are stored.

export type Invitation = {
  /** public part, used to look it up */
  readonly id: string;
  /** SHA-256 of the whole token, in hex */
  readonly hash: string;
  /** name and role of the new user */
  readonly name: string;
  readonly role: Role;
  /** the admin who made it */
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number;
};

/** Contract tests: `testing/stores/contract/invitations.ts`. */
export interface InvitationStore {
  find(id: string): Promise<Invitation | null>;
  /** In order of creation, then by id; may include expired ones. */
  list(): Promise<Invitation[]>;
  /**
   * Durable when it resolves with true; false if `max` others exist, or the admin does not. Removes invitations that had expired when
   * this one was created, and earlier ones of the same name. Removing the admin removes the invitation in the same write.
   */
  add(invitation: Invitation, max: number): Promise<boolean>;
  /** Adds the user and removes the invitation in one write, so that only one caller succeeds. */
  accept(id: string, user: User): Promise<'accepted' | 'gone' | 'taken'>;
  /** False if there is no such invitation. */
  remove(id: string): Promise<boolean>;
}

// Browser extensions that a user has connected to the server, and pending requests. Only token hashes are
// stored.

type Extension = {
  /** public part of its token, used to look it up */
  readonly id: string;
  /** SHA-256 of the whole token, in hex */
  readonly hash: string;
  /** such as `chrome-extension://…`: the token allows this origin */
  readonly origin: string;
  /** name given by the extension */
  readonly name: string;
  readonly createdAt: number;
};

export type PairingRequest = Extension & {
  /** code that the user confirms; useless without a login */
  readonly code: string;
  /** when the request expires */
  readonly expiresAt: number;
};

export type Pairing = Extension & {
  /** user that the extension acts as; null for the anonymous user of open mode */
  readonly owner: string | null;
  /** upper bound of its permissions; it never grants more than the owner's current role */
  readonly role: Role;
  /** id of the API key that approved it, whose removal removes it; null if a login did */
  readonly key: string | null;
  readonly allowedAt: number;
  /** when that key expires; null for never */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
};

/** Contract tests: `testing/stores/contract/pairings.ts`. */
export interface PairingStore {
  /**
   * Durable when it resolves with true; false if `most` other requests are pending or the code is taken.
   * Removes requests that had expired when this one was created.
   */
  request(request: PairingRequest, max: number): Promise<boolean>;
  /** In order of creation; may include expired ones. */
  requests(): Promise<PairingRequest[]>;
  findRequest(id: string): Promise<PairingRequest | null>;
  requestWith(code: string): Promise<PairingRequest | null>;
  /** Removes the request, so that only one caller receives it. Null if there is none. */
  takeRequest(id: string): Promise<PairingRequest | null>;
  find(id: string): Promise<Pairing | null>;
  /** In order of approval, then by id; of one owner, or of all. */
  list(owner?: string | null): Promise<Pairing[]>;
  /** Durable when it resolves with true; false if the user or the key does not exist. Ids must be unique. */
  add(pairing: Pairing): Promise<boolean>;
  hasOrigin(origin: string): Promise<boolean>;
  /**
   * False if the pairing does not exist or does not belong to the given owner. Durable when it resolves, and
   * `RevocationStore.follow` reports it. Removing a user or an API key removes its pairings in the same
   * write.
   */
  remove(id: string, owner?: string | null): Promise<boolean>;
  /**
   * Records when pairings were last used (id → time). Ignores unknown ids and times before the stored one.
   */
  used(times: ReadonlyMap<string, number>): Promise<void>;
}

/**
 * Limits failed logins, in windows that start with the first failure and end by themselves, so that no user is locked
 * out permanently:
 *
 * - per name and address, against guessing one password;
 * - per address over all names, against trying one password on many users;
 * - per name over all addresses without an earlier login of that name, against distributed guessing.
 *
 * So one address cannot lock a user out at another, and many addresses cannot lock a user out at a known one.
 * `testing/stores/contract/login-attempts.ts` tests every promise made here.
 */
export interface LoginAttempts {
  /**
   * Counts as failed until `succeeded` is called; a refused attempt does not count. `name` is null if it is
   * not a valid user name.
   */
  begin(name: string | null, address: string): Promise<Attempt>;
  succeeded(name: string, address: string): Promise<void>;
}

export type Attempt = { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };

export type LoginLimits = {
  /** failures per name and address in a window */
  readonly attempts: number;
  readonly windowSeconds?: number;
  /** maximum number of names and addresses that an in-memory counter keeps */
  readonly maxKeys?: number;
};

/** Limits per address and per name, as a multiple of the limit per name and address. */
export const OVERALL_FACTOR = 10;
export const LOGIN_WINDOW_SECONDS = 15 * 60;

/**
 * How long revocations are kept after their tokens have expired: a clock that was ahead for a while must not
 * make revoked tokens valid again.
 */
export const KEPT_AFTER_EXPIRY_MS = 30 * 24 * 3_600_000;

export type Revocation = { readonly id: string; readonly until: number };

/** Tokens revoked before they expire. */
export interface RevocationStore {
  /** The token expires at `until` (in milliseconds) and may be dropped then. Durable when it resolves. */
  add(id: string, until: number): Promise<void>;
  has(id: string): Promise<boolean>;
  /** Revocations that have not expired, in any order. */
  list(): Promise<readonly Revocation[]>;
  /**
   * Calls `changed` when users, API keys or revocations may have changed: immediately for changes made
   * through this store, within half a second for changes of another process. Returns a function that ends
   * this; closing the store ends it as well.
   */
  follow(changed: () => void): () => void;
  /**
   * Whether reads may be cached until `follow` reports a change, for stores with a round trip per read; false
   * while changes might not be noticed in time. Undefined: do not cache.
   */
  readonly mayKeep?: () => boolean;
}

// Preferences of a principal, such as a theme; opaque to the server.

export interface PreferenceStore {
  /** Null if nothing is stored. */
  get(owner: PrincipalId): Promise<JsonObject | null>;
  /** Replaces the stored value. Durable when it resolves. */
  put(owner: PrincipalId, value: JsonObject): Promise<void>;
}

// Decisions of people about files whose content would become instructions. Each is about one version of one file.

export type FileDecision = {
  /** whom it is for; null: everybody */
  readonly owner: PrincipalId | null;
  /** absolute, links resolved */
  readonly path: string;
  /** SHA-256 of the content, in hex; empty for a folder that was trusted in advance */
  readonly hash: string;
  /** `asked`: a person was asked, and has not answered yet */
  readonly state: 'asked' | 'used' | 'declined';
  readonly content: string;
  /** who decided */
  readonly by: string;
  readonly at: number;
};

/** Contract tests: `testing/stores/contract/decisions.ts`. */
export interface DecisionStore {
  /** The decisions for the owner and for everybody about these paths, latest last. */
  find(owner: PrincipalId | null, paths: readonly string[]): Promise<FileDecision[]>;
  /** All decisions for the owner, or for everybody if null, without content, by path. */
  list(owner: PrincipalId | null): Promise<Omit<FileDecision, 'content'>[]>;
  /**
   * Durable when it resolves. `asked` changes no decision; `declined` replaces all about the file except an accepted version, and
   * `used` replaces all. Of each owner the latest `max` remain, and all with an empty hash.
   */
  put(decision: FileDecision, max: number): Promise<void>;
  /** Removes all decisions of the owner about the file. False if there are none. */
  remove(owner: PrincipalId | null, path: string): Promise<boolean>;
}

// Named documents that admins change at run time; opaque to the store.

export type StoredDocument = {
  readonly value: JsonObject;
  /** number of writes, from 1 */
  readonly version: number;
};

export interface SettingsStore {
  /** Null if nothing is stored under the name. */
  read(name: string): Promise<StoredDocument | null>;
  /**
   * Replaces the document if its version is still `expected` (0: none exists); otherwise returns false.
   * Durable when it resolves; followers of the store are notified on every node.
   */
  write(name: string, value: JsonObject, expected: number): Promise<boolean>;
}
