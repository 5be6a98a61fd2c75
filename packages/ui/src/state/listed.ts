/** Applies an event to a session in a list. Pure. */
import type { Part } from '@parlance/protocol';
import type { ActivityEvent, Session } from '@parlance/sdk';

type Happened = Exclude<
  ActivityEvent,
  {
    type: 'ready' | 'missed' | 'settings.changed' | 'session.erased' | 'session.attached';
  }
>;

/** Returns the same object if the list shows nothing of the event. */
export function listedAfter(session: Session, event: Happened): Session {
  if (event.seq <= session.head) return session;
  const now = { ...session, head: event.seq, updatedAt: new Date(event.at).toISOString() };
  switch (event.type) {
    case 'session.renamed':
      return { ...now, title: event.title };
    case 'session.archived':
      return { ...session, head: event.seq, archived: true };
    case 'session.unarchived':
      return { ...session, head: event.seq, archived: false };
    case 'session.pinned':
      return { ...session, head: event.seq, pinned: event.pinned };
    case 'session.tagged':
      return { ...session, head: event.seq, tags: event.tags };
    case 'session.configured':
      return { ...now, agent: event.agent?.id ?? session.agent };
    case 'agent.changed':
      return { ...now, agent: event.to.id };
    case 'history.imported': {
      const [first] = event.items;
      const said = event.items.filter(({ type }) => type === 'user' || type === 'text').length;
      const title = session.title || (first?.type === 'user' ? titleOf(first.parts) : '');
      return { ...now, title, said: session.said + said };
    }
    case 'input.accepted':
      return {
        ...now,
        archived: false,
        title: session.title || titleOf(event.parts),
        said: session.said + 1,
      };
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

const titleOf = ([first]: readonly Part[]): string =>
  first?.type === 'text' ? first.text.replace(/\s+/g, ' ').trim().slice(0, 80) : '';

/** Most recently changed first. */
export const byChange = (one: Session, other: Session): number =>
  one.updatedAt < other.updatedAt ? 1 : one.updatedAt > other.updatedAt ? -1 : 0;
