/** A request that is answered with one turn, in terms of the core. */
import {
  type ApprovalId,
  type CallerTool,
  type CallId,
  type DurableEvent,
  Fault,
  type FaultCode,
  type HistoryItem,
  isObject,
  type JsonObject,
  jsonRefusal,
  type Part,
  type Principal,
  type TurnOptions,
} from '@parlance/protocol';
import type { Caller, SessionRef } from '../../core/index.ts';
import type { TurnTarget } from './turn-reader.ts';
import type { UpdateReader } from './turn-updates.ts';

export type ApprovalReply = {
  readonly approval: ApprovalId;
  readonly approve: boolean;
  readonly reason?: string;
};

export type ChatRequest = {
  readonly dialect: string;
  readonly principal: Principal;
  readonly items: readonly HistoryItem[];
  /** how many of the items are not in the request, but of an earlier response that it names */
  readonly lookedUp?: number;
  /** index of the first item after the last message of the assistant */
  readonly newFrom: number;
  readonly terms: TurnOptions;
  /** absent: the agent of the session, or the default one */
  readonly agent?: string;
  /** the session named by the request */
  readonly session: string | null;
  /** digest of the idempotency key */
  readonly key: string | null;
  /** true: start a new session with these items, even if an existing session has them */
  readonly branches?: boolean;
  /** whether the history contains untrusted content, if known */
  readonly untrusted?: boolean;
  /**
   * Answers to approvals. Absent if the protocol has none: a message then waits until other clients have
   * answered.
   */
  readonly approvals?: readonly ApprovalReply[];
  /** data for programs, stored with every event that the request causes */
  readonly data?: JsonObject;
  /** labels to add to the session */
  readonly labels?: Readonly<Record<string, string>>;
  /** the field with the conversation, for error messages; default: messages */
  readonly field?: string;
};

/** The progress of a request. */
export type Progress = {
  session: string | null;
  /** an input or a result was stored: retrying the request would send it twice */
  accepted: boolean;
};

/** The turn that a request started, or that it continued with the caller's results. */
export type FollowTarget = TurnTarget & {
  /** the calls that the request answered */
  readonly answered: ReadonlySet<string>;
};

/** The effect of a request on its session. */
export type Accepted = {
  readonly ref: SessionRef;
  readonly target: FollowTarget;
  /** the first event that the request caused; the answer follows it */
  readonly start: DurableEvent;
  /** the events were caused by an earlier request with the same key */
  readonly again: boolean;
  /** digest of the conversation before the new items; null if unknown */
  readonly history: string | null;
};

export type StartedTurn = Accepted & { readonly reader: UpdateReader };

export const callerOf = ({ principal, dialect, key }: ChatRequest): Caller => ({
  principal,
  dialect,
  ...(key !== null && { key }),
});

/** Joins the new messages of the user to one input. */
export const partsOf = ({ items, newFrom }: ChatRequest): Part[] =>
  items.slice(newFrom).flatMap((item) => (item.type === 'user' ? item.parts : []));

/** Instructions before and after the user's message, kept apart from it. */
export function systemOf({ items, newFrom }: ChatRequest): { before?: string; after?: string } | undefined {
  const fresh = items.slice(newFrom);
  const first = fresh.findIndex(({ type }) => type === 'user');
  const textOf = (some: readonly HistoryItem[]): string =>
    some.flatMap((item) => (item.type === 'system' ? [item.text] : [])).join('\n\n');
  const before = textOf(fresh.slice(0, Math.max(0, first)));
  const after = textOf(fresh.slice(Math.max(0, first)));
  return before || after ? { ...(before && { before }), ...(after && { after }) } : undefined;
}

export type Result = Extract<HistoryItem, { type: 'result' }>;

export const resultsOf = ({ items, newFrom }: ChatRequest): Result[] => {
  const results = new Map<CallId, Result>();
  for (const item of items.slice(newFrom)) if (item.type === 'result') results.set(item.call, item);
  return [...results.values()];
};

/** A request with an invalid conversation. */
export const invalidConversation = ({ field = 'messages' }: ChatRequest, message: string) =>
  invalid(field, message);

/** A fault that names the field of the request, or has a code of the vendor's API. */
export class RequestFault extends Fault {
  readonly param: string | null;
  readonly apiCode: string | null;

  constructor(
    code: FaultCode,
    message: string,
    { param, apiCode }: { readonly param?: string; readonly apiCode?: string } = {},
  ) {
    super(code, message);
    this.param = param ?? null;
    this.apiCode = apiCode ?? null;
  }
}

export const invalid = (param: string, message: string): RequestFault =>
  new RequestFault('invalid', message, { param });

/** A tool of the caller. */
export const callerTool = ({
  name,
  description,
  parameters,
}: {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: JsonObject | null | undefined;
}): CallerTool => ({ name, description: description ?? '', parameters: parameters ?? {} });

/** Arguments written by a model may not be JSON: they count as empty. */
export function argumentsOf(text: string): JsonObject {
  if (jsonRefusal(text) !== null) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
