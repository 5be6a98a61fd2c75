/** Calls that are under way, as a projection remembers them between the events about them. */
import type { DurableEvent, JsonObject, SessionEvent } from '@parlance/protocol';

/** How a call stands; once it has ended, its outcome. */
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
  /** the approval it waited for, or waits for */
  readonly approval: string | null;
  /** it has started, so clients know it */
  readonly shown: boolean;
  readonly status: CallStatus;
};

export type Calls = Readonly<Record<string, TrackedCall>>;

export const NO_CALLS: Calls = {};

/** The calls after the event. A call stays until its turn is over: its end may be followed by more about it. */
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
