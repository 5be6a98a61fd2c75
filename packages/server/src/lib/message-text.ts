/** Extracts the text of messages. */
import { type DurableEvent, textOf } from '@parlance/protocol';

/** Null if the event is not a message. An imported history yields one text. */
export function messageText(event: DurableEvent): string | null {
  switch (event.type) {
    case 'input.accepted':
      return textOf(event.parts) || null;
    case 'text.ended':
      return event.text || null;
    case 'history.imported':
      return event.items.map(itemText).filter(Boolean).join('\n\n') || null;
    default:
      return null;
  }
}

const itemText = (item: DurableEvent<'history.imported'>['items'][number]): string => {
  if (item.type === 'user') return textOf(item.parts);
  return item.type === 'text' ? item.text : '';
};
