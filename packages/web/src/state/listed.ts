/** How a session in a list changes with what happens in it. Pure. */
import type { ActivityEvent, Session } from '@parlance/sdk';

type Happened = Exclude<ActivityEvent, { type: 'ready' | 'missed' | 'session.erased' | 'session.attached' }>;

/** As it is after the event; the same object where a list shows nothing of it. */
export function listedAfter(session: Session, fact: Happened): Session {
  if (fact.seq <= session.head) return session;
  const now = { ...session, head: fact.seq, updatedAt: new Date(fact.at).toISOString() };
  switch (fact.type) {
    case 'session.renamed':
      return { ...now, title: fact.title };
    case 'session.cleared':
      return { ...now, title: '' };
    case 'session.archived':
      return { ...now, archived: true };
    case 'session.configured':
      return { ...now, agent: fact.agent?.id ?? session.agent };
    case 'agent.changed':
      return { ...now, agent: fact.to.id };
    case 'input.accepted': {
      const [first] = fact.parts;
      const words = first?.type === 'text' ? first.text.replace(/\s+/g, ' ').trim().slice(0, 80) : '';
      return { ...now, archived: false, title: session.title || words, said: session.said + 1 };
    }
    case 'turn.started':
    case 'turn.resumed':
    case 'approval.answered':
    case 'tool.ended':
      return { ...now, status: 'running' };
    case 'approval.requested':
    case 'call.deferred':
      return { ...now, status: 'waiting' };
    case 'turn.failed':
      return { ...now, status: 'failed' };
    case 'turn.ended':
    case 'turn.cancelled':
      return { ...now, status: 'idle' };
    default:
      return now;
  }
}

/** The one that changed last comes first. */
export const byChange = (one: Session, other: Session): number =>
  one.updatedAt < other.updatedAt ? 1 : one.updatedAt > other.updatedAt ? -1 : 0;
