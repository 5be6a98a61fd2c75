/** For dialects that show one approval at a time: the pending ones, in order of request. */
import type { DurableEvent, SessionEvent } from '@parlance/protocol';

/** The first is the one that is shown, and that an answer without an id answers. */
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
      // A call that is aborted while it waits is closed with its turn, and so are the others.
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

/** The approval that is shown after the event and was not before; null if there is none. */
export const newlyShown = (
  before: WaitingApprovals,
  after: WaitingApprovals,
): DurableEvent<'approval.requested'> | null =>
  after[0] && after[0].approval !== before[0]?.approval ? after[0] : null;
