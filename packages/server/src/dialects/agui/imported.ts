/** Imported history, as messages. */
import type { DurableEvent, HistoryItem } from '@parlance/protocol';
import { contentOf, resultOf } from './content.ts';
import type { Message } from './events.ts';
import { MessageList } from './message-list.ts';

/** A text and the calls after it are one message, unless they have ids of their own. */
export function importedMessages({
  id: event,
  input,
  items,
}: DurableEvent<'history.imported'>): readonly Message[] {
  const list = new MessageList();
  let answer: string | null = null;
  for (const [index, item] of items.entries()) {
    const own = `${event}-${index}`;
    if (item.type === 'system') continue;
    if (item.type === 'user') {
      list.push({ id: item.key ?? input ?? own, role: 'user', content: contentOf(item.parts) });
      answer = null;
    } else {
      const id: string = item.type === 'call' ? (item.id ?? answer ?? own) : ('id' in item && item.id) || own;
      addItem(list, item, id);
      answer = item.type === 'text' || item.type === 'call' ? id : null;
    }
  }
  return list.all;
}

function addItem(
  list: MessageList,
  item: Exclude<HistoryItem, { type: 'user' | 'system' }>,
  id: string,
): void {
  switch (item.type) {
    case 'text':
      list.push({ id, role: 'assistant', content: item.text });
      return;
    case 'reasoning':
      list.push({ id, role: 'reasoning', content: item.text });
      return;
    case 'call':
      list.add({
        type: 'TOOL_CALL_START',
        toolCallId: item.call,
        toolCallName: item.tool,
        parentMessageId: id,
      });
      list.add({ type: 'TOOL_CALL_ARGS', toolCallId: item.call, delta: JSON.stringify(item.input) });
      return;
    case 'result':
      list.add({
        type: 'TOOL_CALL_RESULT',
        messageId: id,
        toolCallId: item.call,
        content: resultOf(item.parts),
        role: 'tool',
      });
  }
}
