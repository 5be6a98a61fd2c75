/** What a request asks for, in terms of the core. */
import type {
  ApprovalId,
  CallId,
  DurableEvent,
  HistoryItem,
  JsonObject,
  Part,
  Principal,
  TurnTerms,
} from '@parlance/protocol';
import type { Caller, SessionRef } from '../../../core/api/index.ts';
import type { Followed, Reading } from './reading.ts';
import { invalid } from './request-fault.ts';

export type ApprovalReply = {
  readonly approval: ApprovalId;
  readonly approve: boolean;
  readonly reason?: string;
};

export type Question = {
  readonly dialect: string;
  readonly principal: Principal;
  readonly items: readonly HistoryItem[];
  /** the items from here on follow the last message of the assistant */
  readonly newFrom: number;
  readonly terms: TurnTerms;
  /** the agent that answers; absent: the session's, or the default one */
  readonly agent?: string;
  /** the session that the request names */
  readonly session: string | null;
  /** digest of the idempotency key */
  readonly key: string | null;
  /** true: the items are the beginning of a new session, whatever session holds them */
  readonly branches?: boolean;
  /** answers to approvals; absent if the protocol has none: a message then waits until others have answered */
  readonly approvals?: readonly ApprovalReply[];
  /** data for programs, stored with all that the request causes */
  readonly data?: JsonObject;
  /** labels of the session, beside its others */
  readonly labels?: Readonly<Record<string, string>>;
  /** the field with the conversation, for errors; default: messages */
  readonly field?: string;
};

/** How far a request has come. */
export type Progress = {
  session: string | null;
  /** an input or a result was stored: the same request again would be a second one */
  accepted: boolean;
};

/** What a request has caused in its session. */
export type Accepted = {
  readonly ref: SessionRef;
  readonly followed: Followed;
  /** the first event that it caused: what follows is the answer */
  readonly start: DurableEvent;
  /** an earlier request with the same key caused it */
  readonly again: boolean;
  /** digest of the conversation before the new items; null if it is unknown */
  readonly history: string | null;
};

export type Begun = Accepted & { readonly reading: Reading };

export const callerOf = ({ principal, dialect, key }: Question): Caller => ({
  principal,
  dialect,
  ...(key !== null && { key }),
});

/** The new messages of the user are one input. */
export const partsOf = ({ items, newFrom }: Question): Part[] =>
  items.slice(newFrom).flatMap((item) => (item.type === 'user' ? item.parts : []));

/** Instructions before and after the user's words: they are no words of a person. */
export function systemOf({ items, newFrom }: Question): { before?: string; after?: string } | undefined {
  const fresh = items.slice(newFrom);
  const first = fresh.findIndex(({ type }) => type === 'user');
  const textOf = (some: readonly HistoryItem[]): string =>
    some.flatMap((item) => (item.type === 'system' ? [item.text] : [])).join('\n\n');
  const before = textOf(fresh.slice(0, Math.max(0, first)));
  const after = textOf(fresh.slice(Math.max(0, first)));
  return before || after ? { ...(before && { before }), ...(after && { after }) } : undefined;
}

export type Result = Extract<HistoryItem, { type: 'result' }>;

export const resultsOf = ({ items, newFrom }: Question): Result[] => {
  const results = new Map<CallId, Result>();
  for (const item of items.slice(newFrom)) if (item.type === 'result') results.set(item.call, item);
  return [...results.values()];
};

/** A request whose conversation does not fit. */
export const misfit = ({ field = 'messages' }: Question, message: string) => invalid(field, message);
