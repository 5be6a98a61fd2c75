/**
 * What lists show of a session and follows from its events. The server stores it with the session, and clients keep their
 * lists up to date with it. Without zod, so that browsers can load it.
 */
import type { AgentRef } from './event-fields.ts';
import type { DurableEvent, DurableEventType } from './events.ts';
import { titleOf } from './title.ts';

export type SessionSummary = {
  readonly title: string;
  readonly agent: AgentRef;
  readonly archived: boolean;
  readonly pinned: boolean;
  /** sorted */
  readonly tags: string[];
  /** inputs, texts, approvals, notices of limits, spoken answers, deferred calls, notices and final calls */
  readonly messageCount: number;
  /** the model that answered last; absent until one has */
  readonly lastModel?: string;
};

const NOTHING: Partial<SessionSummary> = {};

/** The fields that the event changes. */
export function summaryChange(
  before: Pick<SessionSummary, 'title' | 'messageCount'>,
  event: DurableEvent,
): Partial<SessionSummary> {
  const messages = (count: number) => (count === 0 ? NOTHING : { messageCount: before.messageCount + count });
  switch (event.type) {
    case 'session.created':
      return { agent: event.agent };
    case 'session.renamed':
      return { title: event.title };
    case 'session.archived':
      return { archived: true };
    case 'session.unarchived':
      return { archived: false };
    case 'session.pinned':
      return { pinned: event.pinned };
    case 'session.tagged':
      return { tags: event.tags };
    case 'session.configured':
      return event.agent ? { agent: event.agent } : NOTHING;
    case 'agent.changed':
      return { agent: event.to };
    case 'history.imported': {
      // Imported messages count like messages of this session.
      const [first] = event.items;
      const change = messages(event.items.filter(({ type }) => type === 'user' || type === 'text').length);
      return first?.type === 'user' ? { ...change, title: before.title || titleOf(first.parts) } : change;
    }
    case 'input.accepted':
      return {
        // An input without parts adds no message: the model continues from the existing context.
        ...messages(event.parts.length > 0 || event.call ? 1 : 0),
        archived: false,
        title: before.title || titleOf(event.parts),
      };
    case 'step.ended':
      return event.model === undefined ? NOTHING : { lastModel: event.model };
    case 'text.ended':
      return messages(event.text === '' ? 0 : 1);
    case 'approval.requested':
    case 'files.rewound':
    case 'limit.approached':
      return messages(1);
    case 'instructions.changed':
      return messages(event.turn && unacceptedFiles(event).length > 0 ? 1 : 0);
    case 'question.asked':
    case 'question.repeated':
      return messages(1);
    case 'approval.answered':
      return messages(event.said === undefined ? 0 : 1);
    case 'call.deferred':
      return messages(event.notice ? 2 : 1);
    case 'tool.ended':
      return messages((event.final || event.said !== undefined ? 1 : 0) + (event.notice ? 1 : 0));
    default:
      return NOTHING;
  }
}

const UNORDERED: ReadonlySet<string> = new Set([
  'session.archived',
  'session.unarchived',
  'session.pinned',
  'session.tagged',
] satisfies DurableEventType[]);

/** Whether the event brings its session to the top of a list. */
export const isActivity = ({ type }: Pick<DurableEvent, 'type'>): boolean => !UNORDERED.has(type);

/** The files that are not followed because nobody has been asked about this content. */
export const unacceptedFiles = ({ files }: Pick<DurableEvent<'instructions.changed'>, 'files'>) =>
  files.filter(({ use }) => use === 'new' || use === 'changed');
