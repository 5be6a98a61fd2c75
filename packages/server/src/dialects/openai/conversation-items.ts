/**
 * The messages of a session, from all dialects. They are read backwards, so the cost of the latest does not
 * depend on the length of the session.
 */
import type { DurableEvent, HistoryItem } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/index.ts';
import { finalAnswer } from '../kit/calls.ts';
import { messageId, userMessage } from './responses/input-items.ts';
import { messageItem } from './responses/items.ts';

export type ConversationItem = ReturnType<typeof userMessage> | ReturnType<typeof messageItem>;

type Reader = Pick<Engine, 'eventsBackwards'>;
type Log = Pick<SessionRecord, 'ref' | 'head'>;

export async function* newestFirst(engine: Reader, { ref, head }: Log): AsyncGenerator<ConversationItem> {
  const shown = new ShownItems();
  for await (const events of engine.eventsBackwards(ref, head)) {
    for (const event of events.reverse()) yield* shown.before(event);
    if (shown.isOver) return;
  }
}

/** The visible items of the events, last one first. */
class ShownItems {
  /** nothing before is shown */
  isOver = false;
  /** events from this number on were replaced */
  #hiddenFrom = Number.POSITIVE_INFINITY;
  /** turns whose current step was restarted: its earlier output is discarded */
  readonly #void = new Set<string>();

  before(event: DurableEvent): ConversationItem[] {
    if (event.type === 'session.cleared') this.isOver = true;
    if (this.isOver) return [];
    switch (event.type) {
      case 'session.rewound':
        this.#hiddenFrom = Math.min(this.#hiddenFrom, event.from);
        return [];
      case 'step.restarted':
      case 'turn.resumed':
        this.#void.add(event.turn);
        return [];
      case 'step.ended':
        this.#void.delete(event.turn);
        return [];
      default:
        return event.seq >= this.#hiddenFrom || this.#isVoid(event) ? [] : itemsOf(event).reverse();
    }
  }

  #isVoid(event: DurableEvent): boolean {
    return event.type === 'text.ended' && this.#void.has(event.turn) && !event.interrupted;
  }
}

/** The items of an event, in order. */
export function itemsOf(event: DurableEvent): ConversationItem[] {
  switch (event.type) {
    case 'history.imported':
      return event.items.flatMap((item, at) =>
        importedItem(item, messageId(event.session, `${event.id}-${at}`)),
      );
    case 'input.accepted':
      // Without parts the model went on from what was there.
      return event.parts.length > 0 ? [userMessage(messageId(event.session, event.input), event.parts)] : [];
    case 'text.ended': {
      const { text, interrupted = false, block, session } = event;
      if (text === '') return [];
      return [messageItem(messageId(session, block), text, interrupted ? 'incomplete' : 'completed')];
    }
    case 'tool.ended': {
      const text = finalAnswer(event);
      return text === null ? [] : [messageItem(messageId(event.session, event.id), text, 'completed')];
    }
    default:
      return [];
  }
}

function importedItem(item: HistoryItem, id: string): ConversationItem[] {
  if (item.type === 'user') return [userMessage(id, item.parts)];
  return item.type === 'text' ? [messageItem(id, item.text, 'completed')] : [];
}
