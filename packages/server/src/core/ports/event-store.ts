/** Storage of events. `stores/contract.ts` tests every promise made here. */
import type { ApprovalId, DurableEvent, PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import type { AppendAs, Driver } from './lease.ts';
import { type SessionRef, sessionKey } from './session-ref.ts';

export { type SessionRef, sessionKey };

export type SessionStatus = 'idle' | 'running' | 'waiting' | 'failed';

/** What lists show; written together with the events. */
export type SessionRecord = {
  readonly ref: SessionRef;
  readonly dialect: string;
  readonly domain: string;
  readonly agent: string;
  readonly title: string;
  /** a user chose the title */
  readonly renamed: boolean;
  /** the beginning of the first input; empty if there is none yet */
  readonly firstInput: string;
  readonly status: SessionStatus;
  /** the pending approval */
  readonly approval: ApprovalId | null;
  readonly archived: boolean;
  /** not listed, and erased after a period without use */
  readonly ephemeral: boolean;
  readonly pinned: boolean;
  /** sorted */
  readonly tags: readonly string[];
  /** set by clients, to find the session by */
  readonly labels: Readonly<Record<string, string>>;
  /** how many messages either side has sent, as `SessionState` counts them */
  readonly messageCount: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** the number of the last event */
  readonly head: number;
  /** the folded state at event `checkpoint.seq`, so that opening a session does not read all its history */
  readonly checkpoint: { readonly version: number; readonly seq: number; readonly state: string } | null;
};

export type SessionFilter = {
  /** every owner by default */
  readonly owner?: PrincipalId;
  readonly domain?: string;
  readonly status?: readonly SessionStatus[];
  /** archived sessions are left out by default */
  readonly archived?: 'included' | 'only';
  /** ephemeral sessions are left out by default */
  readonly ephemeral?: 'included' | 'only';
  /** part of the title; the case of ASCII letters does not matter */
  readonly title?: string;
  /** only pinned sessions */
  readonly pinned?: true;
  readonly tag?: string;
  readonly label?: { readonly name: string; readonly value: string };
  /** only sessions with a pending approval */
  readonly awaitingApproval?: true;
};

export type SessionQuery = SessionFilter & {
  readonly limit: number;
  /** skips this many, for clients that do not use cursors */
  readonly offset?: number;
  /** `next` of the previous page */
  readonly cursor?: string;
};

/** Finds a session by what was requested, queued or started in it, open or over, or by a label that it has or had. */
export type LookupKey =
  | { readonly kind: 'approval'; readonly id: ApprovalId }
  | { readonly kind: 'turn'; readonly id: TurnId }
  | { readonly kind: 'label'; readonly id: LabelKey };

export type LabelKey = `@${string}=${string}`;

/** Labels whose name begins with `@` have values that hardly any other session has: sessions are looked up by them. */
export const isLookupLabel = (name: string): name is `@${string}` => name.startsWith('@');

export const labelKey = (name: `@${string}`, value: string): LookupKey => ({
  kind: 'label',
  id: `${name}=${value}`,
});

export type TagCount = { readonly tag: string; readonly sessions: number };

export type SessionPage = { readonly sessions: SessionRecord[]; readonly next: string | null };

// biome-ignore lint/complexity/useMaxParams: most callers append without `as`, and have no options to name
export type Append = (
  expected: number,
  events: readonly DurableEvent[],
  record: SessionRecord,
  as?: AppendAs,
) => Promise<Driver | null>;

/** What a decision on one session reads and writes. */
export type SessionLog = Pick<EventStore, 'append' | 'read'>;

export interface EventStore {
  /**
   * Writes the events and the record, all or nothing. They are on disk when the promise resolves. Refuses with a
   * `conflict` error unless the session's last event is number `expected` (0: the session does not exist).
   * `events` are numbered expected + 1, expected + 2, …
   *
   * Resolves with who drives the session now. If the record's status is not `running`, that is nobody: the lease is
   * released in the same append. `as` is a command that takes nothing by default.
   */
  append: Append;
  /** Events after number `after`, in order, at most `limit`. An unknown session has none. */
  read(ref: SessionRef, after: number, limit: number): Promise<DurableEvent[]>;
  /** The number of the last event, 0 if there is none. One cheap read. */
  head(ref: SessionRef): Promise<number>;
  /** The same for many sessions, in one read. */
  heads(refs: readonly SessionRef[]): Promise<number[]>;
  /**
   * Runs `work` while nobody else can append to the session, so that progress is certain where several nodes write to one
   * session at once. `work` must use what it is given, since other appends to the session wait for it, and appends at most
   * once, last.
   */
  exclusively<Result>(ref: SessionRef, work: (store: SessionLog) => Promise<Result>): Promise<Result>;
  load(ref: SessionRef): Promise<SessionRecord | null>;
  /** Every owner's session of that id, most recently changed first. */
  findById(id: SessionId): Promise<SessionRecord[]>;
  /**
   * The session whose events requested this approval, queued or started this turn or set this label, of this owner and id if they are given.
   * If several hold copies of it, one in which the approval still waits comes first, then the one that changed last.
   * Takes the same time however many sessions there are.
   */
  lookup(key: LookupKey, within?: Partial<SessionRef>): Promise<SessionRecord | null>;
  /** Most recently changed first; pages do not overlap while nothing changes. */
  list(query: SessionQuery): Promise<SessionPage>;
  count(filter: SessionFilter): Promise<number>;
  /** How many turns were queued or started in these sessions. Reads no events. */
  countTurns(filter: SessionFilter): Promise<number>;
  /** The tags of the owner's sessions and how many have them, without archived sessions, in the order of the tags. */
  tags(owner: PrincipalId): Promise<TagCount[]>;
  /** Makes a test write durable. Rejects if that is not possible now. */
  writable(): Promise<void>;
  /** The approximate size of the store in bytes. Cheap: it is called for every input. */
  size(): Promise<number>;
  /** The session counts as changed at that time, unless it was changed later. Does nothing if there is none. */
  touch(ref: SessionRef, at: number): Promise<void>;
  /** Removes the session and its events, all or nothing. False if there was none. */
  erase(ref: SessionRef): Promise<boolean>;
  close(): Promise<void>;
}

/** Thrown by `append` when the session is not at `expected`. Nothing was written. */
export class AppendConflict extends Error {
  override readonly name = 'AppendConflict';
  constructor(ref: SessionRef, expected: number, actual: number) {
    super(`session ${sessionKey(ref)} is at event ${actual}, not ${expected}`);
  }
}
