/** The messages of a session, whatever dialect they came from, oldest first. */
import type { DurableEvent, HistoryItem } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/api/index.ts';
import { messageId, userMessage } from './responses/input-items.ts';
import { messageItem } from './responses/items.ts';

export type ConversationItem = ReturnType<typeof userMessage> | ReturnType<typeof messageItem>;

type Shown = {
  readonly item: ConversationItem;
  readonly seq: number;
  readonly turn: string | null;
  /** its step has ended */
  settled: boolean;
};

const PAGE = 500;

export async function conversationItems(
  engine: Pick<Engine, 'events'>,
  ref: SessionRef,
): Promise<ConversationItem[]> {
  let shown: Shown[] = [];
  for (let after = 0; ; ) {
    const events = await engine.events(ref, after, PAGE);
    for (const event of events) shown = withEvent(shown, event);
    const last = events.at(-1);
    if (!last || events.length < PAGE) return shown.map(({ item }) => item);
    after = last.seq;
  }
}

function withEvent(shown: Shown[], event: DurableEvent): Shown[] {
  const { seq } = event;
  switch (event.type) {
    case 'history.imported': {
      const items = event.items.flatMap((item, at) =>
        importedItem(item, messageId(event.session, `${event.id}-${at}`)),
      );
      shown.push(...items.map((item) => ({ item, seq, turn: null, settled: true })));
      return shown;
    }
    case 'input.accepted':
      // Without parts the model went on from what was there.
      if (event.parts.length > 0)
        shown.push({
          item: userMessage(messageId(event.session, event.input), event.parts),
          seq,
          turn: null,
          settled: true,
        });
      return shown;
    case 'text.ended':
      if (event.text !== '') {
        const item = messageItem(
          messageId(event.session, event.block),
          event.text,
          event.interrupted ? 'incomplete' : 'completed',
        );
        shown.push({ item, seq, turn: event.turn, settled: event.interrupted === true });
      }
      return shown;
    case 'step.ended':
      for (const one of shown) if (one.turn === event.turn) one.settled = true;
      return shown;
    case 'step.restarted':
    case 'turn.resumed':
      return shown.filter(({ turn, settled }) => turn !== event.turn || settled);
    case 'session.rewound':
      return shown.filter((one) => one.seq < event.from);
    case 'session.cleared':
      return [];
    default:
      return shown;
  }
}

function importedItem(item: HistoryItem, id: string): ConversationItem[] {
  if (item.type === 'user') return [userMessage(id, item.parts)];
  return item.type === 'text' ? [messageItem(id, item.text, 'completed')] : [];
}
