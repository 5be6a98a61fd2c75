/** Storage of sessions. Contract tests: `testing/stores/contract.ts`. */
import type {
  ApprovalId,
  DurableEvent,
  JsonObject,
  PrincipalId,
  QuestionId,
  SessionId,
  Spent,
  TurnId,
} from '@parlance/protocol';
import type { AppendAs, Driver } from './lease.ts';
import { type SessionRef, sessionKey } from './session-ref.ts';

export { type SessionRef, sessionKey };

export type SessionStatus = 'idle' | 'running' | 'waiting' | 'failed';

/** Data of a session for lists; written together with the events. */
export type SessionRecord = {
  readonly ref: SessionRef;
  readonly dialect: string;
  readonly domain: string;
  readonly agent: string;
  readonly title: string;
  /** whether a user chose the title */
  readonly renamed: boolean;
  /** beginning of the first input; empty if there is none */
  readonly firstInput: string;
  readonly status: SessionStatus;
  /** the approval or question that has been pending longest */
  readonly pending: ApprovalId | QuestionId | null;
  readonly archived: boolean;
  /** hidden from lists, and erased after a period without use */
  readonly ephemeral: boolean;
  /** the session of the same owner that started it as a sub-agent */
  readonly parent: SessionId | null;
  readonly pinned: boolean;
  /** sorted */
  readonly tags: readonly string[];
  /** set by clients, for lookups */
  readonly labels: Readonly<Record<string, string>>;
  /** number of messages of both sides, as `SessionState` counts them */
  readonly messageCount: number;
  /** the model that answered last */
  readonly lastModel?: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** number of the last event */
  readonly head: number;
  /** folded state at event `checkpoint.seq`, so that opening a session does not read its whole history */
  readonly checkpoint: { readonly version: number; readonly seq: number; readonly state: string } | null;
  /** the model calls that these events end: an append adds them to the usage. Not part of what is read */
  readonly usage?: readonly UsageEntry[];
};

export type SessionFilter = {
  /** all owners by default */
  readonly owner?: PrincipalId;
  readonly domain?: string;
  readonly status?: readonly SessionStatus[];
  /** excluded by default */
  readonly archived?: 'included' | 'only';
  /** excluded by default */
  readonly ephemeral?: 'included' | 'only';
  /** sub-agents of that session; sub-agents are excluded by default */
  readonly parent?: 'included' | SessionId;
  /** substring of the title; ASCII letters match regardless of case */
  readonly title?: string;
  /** only pinned sessions */
  readonly pinned?: true;
  readonly tag?: string;
  readonly label?: { readonly name: string; readonly value: string };
  /** only sessions with a pending approval or question */
  readonly awaitsUser?: true;
};

export type SessionQuery = SessionFilter & {
  readonly limit: number;
  /** number of sessions to skip, for clients without cursors */
  readonly offset?: number;
  /** `next` of the previous page */
  readonly cursor?: string;
};

/** Finds a session by an approval, a question, a turn (queued, started or ended), or by a current or former label. */
export type LookupKey =
  | { readonly kind: 'approval'; readonly id: ApprovalId }
  | { readonly kind: 'question'; readonly id: QuestionId }
  | { readonly kind: 'turn'; readonly id: TurnId }
  | { readonly kind: 'label'; readonly id: LabelKey };

export type LabelKey = `@${string}=${string}`;

/** Values of labels whose name starts with `@` are nearly unique: sessions are looked up by them. */
export const isLookupLabel = (name: string): name is `@${string}` => name.startsWith('@');

export const labelKey = (name: `@${string}`, value: string): LookupKey => ({
  kind: 'label',
  id: `${name}=${value}`,
});

export type TagCount = { readonly tag: string; readonly sessions: number };

export type SessionPage = { readonly sessions: SessionRecord[]; readonly next: string | null };

export type Append = (
  expected: number,
  events: readonly DurableEvent[],
  record: SessionRecord,
  as?: AppendAs,
) => Promise<Driver | null>;

/** The part of the log that a decision on one session uses. */
export type SessionLog = Pick<EventStore, 'append' | 'read'>;

/** The log of each session and the record that is written with it. */
export interface EventStore {
  /**
   * Writes the events and the record atomically. They are on disk when the promise resolves. Rejects with
   * `AppendConflict` unless the session's last event is number `expected` (0: the session does not exist).
   * `events` are numbered expected + 1, expected + 2, …
   *
   * Resolves with the current driver of the session. If the record's status is not `running`, there is none:
   * the append releases the lease. `as` defaults to a command that does not take the lease.
   */
  append: Append;
  /** At most `limit` events after number `after`, in order. Empty for an unknown session. */
  read(ref: SessionRef, after: number, limit: number): Promise<DurableEvent[]>;
  /** Number of the last event, or 0. One cheap read. */
  head(ref: SessionRef): Promise<number>;
  /**
   * Runs `work` while nobody else can append to the session, which guarantees progress if several nodes write
   * to it concurrently. `work` must use the given log, since other appends to the session wait for it, and
   * may append once, as its last step.
   */
  exclusively<Result>(ref: SessionRef, work: (store: SessionLog) => Promise<Result>): Promise<Result>;
  load(ref: SessionRef): Promise<SessionRecord | null>;
  /** Deletes the session and its events atomically. False if it does not exist. */
  erase(ref: SessionRef): Promise<boolean>;
}

/** Finds sessions by what their records and events contain. */
export interface SessionIndex {
  /** All owners' sessions with that id, the first one that was created first. */
  findById(id: SessionId): Promise<SessionRecord[]>;
  /**
   * The session whose events requested this approval, queued or started this turn, or set this label;
   * `within` restricts owner and id. If several sessions contain copies, prefers one whose approval is still
   * pending, then the most recently changed. Takes constant time in the number of sessions.
   */
  lookup(key: LookupKey, within?: Partial<SessionRef>): Promise<SessionRecord | null>;
  /** Most recently changed first. Pages do not overlap as long as nothing changes. */
  list(query: SessionQuery): Promise<SessionPage>;
  count(filter: SessionFilter): Promise<number>;
  /** Tags of the owner's sessions with their counts, without archived sessions, sorted by tag. */
  tags(owner: PrincipalId): Promise<TagCount[]>;
  /** Like `head`, for many sessions in one read. */
  heads(refs: readonly SessionRef[]): Promise<number[]>;
  /**
   * Marks the session as changed at that time, unless it changed later. Does nothing if it does not exist.
   */
  touch(ref: SessionRef, at: number): Promise<void>;
}

/** Whether more can be stored. */
export interface StorageState {
  /** Makes a test write durable. Rejects if that is currently not possible. */
  writable(): Promise<void>;
  /** Approximate size of the store in bytes. Cheap, since it is called for every input. */
  size(): Promise<number>;
}

/** All of the above in one place. */
export type SessionStore = EventStore & SessionIndex & StorageState & { close(): Promise<void> };

/** Thrown by `append` if the session is not at `expected`. Nothing was written. */
export class AppendConflict extends Error {
  override readonly name = 'AppendConflict';
  constructor(ref: SessionRef, expected: number, actual: number) {
    super(`session ${sessionKey(ref)} is at event ${actual}, not ${expected}`);
  }
}

// Full-text search over messages. `update` brings the index up to date with the log, not appends: appends
// cost nothing extra, and an older database needs no rebuild. Contract tests: `testing/stores/contract/search.ts`.

/** Consecutive words, as split by `lib/words.ts`. */
export type SearchTerm = {
  readonly words: readonly string[];
  /** the last word may be a prefix */
  readonly prefix: boolean;
};

export type SearchQuery = {
  readonly owner: PrincipalId;
  /** a message must match all of them; at least one */
  readonly terms: readonly SearchTerm[];
  readonly limit: number;
  /** `next` of the previous page */
  readonly cursor?: string;
};

export type SearchHit = {
  readonly ref: SessionRef;
  readonly title: string;
  readonly archived: boolean;
  /** number of the event with the message */
  readonly seq: number;
};

export type SearchPage = { readonly hits: readonly SearchHit[]; readonly next: string | null };

export interface MessageSearch {
  /**
   * Indexes messages and turns appended since the last call, reading about `most` events, of one owner or of all.
   * True if the index is complete. Leaves out ephemeral sessions and skips sessions that cannot be read.
   */
  update(max: number, owner?: PrincipalId): Promise<boolean>;
  /** Latest messages first, without erased sessions. */
  find(query: SearchQuery): Promise<SearchPage>;
}

// The turns of sessions by the time of their last change. It follows the log, and is brought up to date together with the
// index of messages: by `update` of `MessageSearch`. `testing/stores/contract/turns.ts` tests every promise made here.

export type TurnState = 'queued' | 'working' | 'waiting' | 'ended' | 'failed' | 'cancelled';

export type IndexedTurn = {
  readonly ref: SessionRef;
  readonly id: TurnId;
  readonly state: TurnState;
  /** when it came into this state, or was asked for another approval or answer */
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

// What model calls have used: sums by day, written with the append that ends a call. Contract tests:
// `testing/stores/contract/usage.ts`.

export type UsageCounts = {
  readonly calls: number;
  readonly inputTokens: number;
  /** of these, read from the vendor's cache */
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** in millionths of a US dollar, at the prices of that time */
  readonly cost: number;
  /** calls of models that had no price */
  readonly unpriced: number;
  /** answers that were broken off, and are not counted by the vendor */
  readonly estimated: number;
};

export type UsageLabels = {
  /** `2026-01-31`, in UTC */
  readonly day: string;
  readonly owner: string;
  readonly agent: string;
  /** id of the API key; empty if there was none */
  readonly apiKey: string;
  readonly model: string;
  readonly task: string;
};

export type UsageEntry = UsageLabels & UsageCounts;

export type UsageFilter = Partial<Omit<UsageLabels, 'day'>> & {
  /** first and last day */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};

/** The sum of all entries with these labels. */
export type UsageRow = Partial<UsageLabels> & UsageCounts;

export interface UsageStore {
  /** Counts calls outside of any session. Durable when it resolves. */
  add(entries: readonly UsageEntry[]): Promise<void>;
  /** One row per combination of the labels, sorted by them, at most `limit`. Without labels, one row. */
  report(filter: UsageFilter, by: readonly (keyof UsageLabels)[], limit: number): Promise<UsageRow[]>;
  /** Money and tokens. Reads an index if the filter has an owner, an agent or an API key. */
  spent(filter: UsageFilter): Promise<Spent>;
  /** The first who asks for the name has it: resolves with `by` of that one. Durable when it resolves. */
  claim(name: string, day: string, by: string): Promise<string>;
  /** Deletes entries and claims of earlier days. */
  prune(before: string): Promise<void>;
}

// Links that show a session to anyone who has them. Contract tests: `testing/stores/contract/shares.ts`.

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

// Addresses to which the updates of a turn are sent. Contract tests: `testing/stores/contract/webhooks.ts`.

export type Webhook = {
  readonly ref: SessionRef;
  readonly turn: TurnId;
  /** unique within the turn */
  readonly id: string;
  /** where to send and how: opaque to the store */
  readonly target: JsonObject;
  readonly createdAt: number;
};

export type WebhookProgress = {
  /** number of the last event whose updates have been received */
  readonly sent: number;
  /** failed attempts since then */
  readonly failures: number;
  /** when to send next; null if nothing is left to send */
  readonly due: number | null;
};

export interface WebhookStore {
  /**
   * Adds the webhook, or replaces the one with its id. Durable when it resolves with `stored`. Writes nothing if the turn already has
   * `max.turn` others, if `max.owner` others of the owner have something left to send, or if the session does not exist.
   */
  put(
    webhook: Webhook & WebhookProgress,
    max: { readonly turn: number; readonly owner: number },
  ): Promise<'stored' | 'too_many' | 'no_session'>;
  find(ref: SessionRef, turn: TurnId, id: string): Promise<Webhook | null>;
  /** In order of creation, then by id. */
  list(ref: SessionRef, turn: TurnId): Promise<Webhook[]>;
  /** False if there is none. Durable when it resolves. Erasing a session removes its webhooks. */
  remove(ref: SessionRef, turn: TurnId, id: string): Promise<boolean>;
  /**
   * Those with something to send that is due at `now`, or that a node took that is not among `alive`: at most `limit`, the longest due
   * first. `node` has them until `update` releases them or it is not alive.
   */
  take(
    node: string,
    query: { readonly alive: readonly string[]; readonly now: number; readonly limit: number },
  ): Promise<(Webhook & WebhookProgress)[]>;
  /** False if the webhook was removed, replaced or taken by another node. `release`: any node may take it when it is due. */
  update(
    node: string,
    webhook: Webhook,
    progress: WebhookProgress & { readonly release?: true },
  ): Promise<boolean>;
  /** When the next one that no node has is due; null if there is none. */
  nextDue(): Promise<number | null>;
}
