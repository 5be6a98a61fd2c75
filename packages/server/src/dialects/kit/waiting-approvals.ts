/** Pending approvals in order of request, for dialects that show one at a time. */
import type { DurableEvent, SessionEvent } from '@parlance/protocol';

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
