/** Applies an event to a session in a list. Pure. */
import { isActivity, summaryChange } from '@parlance/protocol/session-summary';
import type { ActivityEvent, Session } from '@parlance/sdk';

type Happened = Exclude<
  ActivityEvent,
  {
    type: 'ready' | 'missed' | 'settings.changed' | 'session.erased' | 'session.attached';
  }
>;

/** Returns the same object if the event is known. */
export function reduceSession(session: Session, event: Happened): Session {
  if (event.seq <= session.head) return session;
  const { agent, ...change } = summaryChange(session, event);
  return {
    ...session,
    ...change,
    agent: agent?.id ?? session.agent,
    status: statusAfter(event) ?? session.status,
    head: event.seq,
    updatedAt: isActivity(event) ? new Date(event.at).toISOString() : session.updatedAt,
  };
}

function statusAfter({ type }: Happened): Session['status'] | null {
  switch (type) {
    case 'turn.started':
    case 'turn.resumed':
    case 'approval.answered':
    case 'tool.ended':
      return 'running';
    case 'approval.requested':
    case 'call.deferred':
      return 'waiting';
    case 'turn.failed':
      return 'failed';
    case 'turn.ended':
    case 'turn.cancelled':
      return 'idle';
    default:
      return null;
  }
}

/** Most recently changed first. */
export const byChange = (one: Session, other: Session): number =>
  one.updatedAt < other.updatedAt ? 1 : one.updatedAt > other.updatedAt ? -1 : 0;
