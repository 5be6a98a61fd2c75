/** Out: an imported conversation, as updates. */
import type { DurableEvent, HistoryItem } from '@parlance/protocol';
import { callFields } from './tool-calls.ts';
import { contentsOf, message, type Update, userMessage } from './updates.ts';

export function historyUpdates({ id, input, items }: DurableEvent<'history.imported'>): Update[] {
  return items.flatMap((item, index) =>
    updatesOf(item, item.type === 'user' && input ? input : `${id}.${index}`),
  );
}

function updatesOf(item: HistoryItem, id: string): Update[] {
  switch (item.type) {
    case 'user':
      return userMessage(item.parts, id);
    case 'system':
      return [];
    case 'text':
      return [message('agent_message_chunk', item.text, item.id ?? id)];
    case 'reasoning':
      return [message('agent_thought_chunk', item.text, item.id ?? id)];
    case 'call':
      return [{ sessionUpdate: 'tool_call', ...callFields(item) }];
    case 'result':
      return [
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: item.call,
          status: item.failed ? 'failed' : 'completed',
          content: contentsOf(item.parts),
        },
      ];
  }
}
