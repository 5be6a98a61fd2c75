/** What projections track between events: open calls, queued inputs and pending approvals. */
import {
  type ConnectionId,
  type DurableEvent,
  type JsonObject,
  type Part,
  type SessionEvent,
  textOf,
  wasStopped,
} from '@parlance/protocol';

// Calls

/** The status of a call; its outcome once it has ended. */
export type CallStatus =
  | 'requested'
  | 'asked'
  | 'approved'
  | 'rejected'
  | 'running'
  | DurableEvent<'tool.ended'>['outcome'];

export type TrackedCall = {
  readonly tool: string;
  readonly input: JsonObject;
  /** the approval of the call, pending or answered */
  readonly approval: string | null;
  /** the call has started, so clients know it */
  readonly shown: boolean;
  readonly status: CallStatus;
};

export type Calls = Readonly<Record<string, TrackedCall>>;

export const NO_CALLS: Calls = {};

/** The calls after the event. A call is kept until its turn ends: events about it may follow its end. */
export function trackCalls(calls: Calls, event: SessionEvent): Calls {
  switch (event.type) {
    case 'call.requested':
      return {
        ...calls,
        [event.call]: {
          tool: event.tool,
          input: event.input,
          approval: null,
          shown: false,
          status: 'requested',
        },
      };
    case 'approval.requested':
      return change(calls, event.call, { approval: event.approval, status: 'asked' });
    case 'approval.answered':
      return change(calls, event.call, { status: event.answer === 'deny' ? 'rejected' : 'approved' });
    case 'tool.started':
      return change(calls, event.call, { shown: true, status: 'running' });
    case 'call.deferred':
      return change(calls, event.call, { status: 'running' });
    case 'tool.ended':
      return change(calls, event.call, { shown: true, status: event.outcome });
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
      return NO_CALLS;
    default:
      return calls;
  }
}

const change = (calls: Calls, id: string, what: Partial<TrackedCall>): Calls => {
  const call = calls[id];
  return call ? { ...calls, [id]: { ...call, ...what } } : calls;
};

/** The answer of a turn that ends with this call, such as a task in a browser; null if there is none. */
export const finalAnswer = (event: DurableEvent<'tool.ended'>): string | null =>
  (event.final && !wasStopped(event) && textOf(event.parts)) || null;

/** The structured result without the page that a browser sent with it. */
export function resultData({ data, parts }: DurableEvent<'tool.ended'>): JsonObject | undefined {
  if (!data || !parts.some(({ type }) => type === 'page')) return data;
  const { page: _page, ...rest } = data;
  return Object.keys(rest).length > 0 ? rest : undefined;
}

/**
 * The call, if this event is the first that clients see of it: it starts, or ends without having started (denied,
 * aborted, invalid). `calls` are those before the event.
 */
export function firstSeen(
  calls: Calls,
  event: DurableEvent<'tool.started' | 'tool.ended'>,
): TrackedCall | null {
  const call = calls[event.call];
  return call && !call.shown ? call : null;
}

// Queued inputs: a message is shown when its turn starts, or when it joins the running turn.

export type WaitingInput = { readonly parts: readonly Part[]; readonly via: ConnectionId | undefined };
export type Inputs = Readonly<Record<string, WaitingInput>>;

export const NO_INPUTS: Inputs = {};

/** The inputs after the event. */
export function trackInputs(inputs: Inputs, event: SessionEvent): Inputs {
  switch (event.type) {
    case 'input.accepted':
      // An input without parts lets the model continue; there is no message to show.
      if (event.parts.length === 0 && !event.call) return inputs;
      return { ...inputs, [event.input]: { parts: event.parts, via: event.via } };
    case 'input.cancelled':
    case 'input.joined':
    case 'turn.started': {
      const { [event.input]: _begun, ...waiting } = inputs;
      return waiting;
    }
    default:
      return inputs;
  }
}

// Pending approvals in order of request, for dialects that show one at a time.

/** The first one is shown, and is answered by an answer without an id. */
export type WaitingApprovals = readonly DurableEvent<'approval.requested'>[];

export const NO_APPROVALS: WaitingApprovals = [];

export function trackApprovals(waiting: WaitingApprovals, event: SessionEvent): WaitingApprovals {
  switch (event.type) {
    case 'approval.requested':
      return [...waiting, event];
    case 'approval.answered':
    case 'tool.ended': {
      const left = waiting.filter(({ call }) => call !== event.call);
      if (left.length === waiting.length) return waiting;
      // A call that ends while it waits for approval was aborted with its turn, and so were the others.
      return event.type === 'tool.ended' ? NO_APPROVALS : left;
    }
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
      return waiting.length === 0 ? waiting : NO_APPROVALS;
    default:
      return waiting;
  }
}

/** The approval that becomes visible with the event; null if there is none. */
export const newlyShown = (
  before: WaitingApprovals,
  after: WaitingApprovals,
): DurableEvent<'approval.requested'> | null =>
  after[0] && after[0].approval !== before[0]?.approval ? after[0] : null;
