/** The input items of a request, from the events that it caused. */
import {
  type DurableEvent,
  type Link,
  type Part,
  type PromptPart,
  textOf,
  withoutPages,
} from '@parlance/protocol';
import { itemId } from './response-id.ts';

export const userMessage = (id: string, parts: readonly Part[]) => ({
  id,
  type: 'message' as const,
  role: 'user' as const,
  status: 'completed' as const,
  content: withoutPages(parts).map(contentOf),
});

export const messageId = (session: string, id: string): string => itemId('msg', { session, id });

function contentOf(part: PromptPart) {
  switch (part.type) {
    case 'text':
      return part.link ? linkContent(part.link) : { type: 'input_text' as const, text: part.text };
    case 'image':
      return {
        type: 'input_image' as const,
        image_url: `data:${part.mime};base64,${part.data}`,
        detail: 'auto' as const,
        file_id: null,
      };
    case 'file':
      return {
        type: 'input_file' as const,
        filename: part.name,
        file_data: `data:${part.mime};base64,${part.data}`,
      };
  }
}

const linkContent = ({ kind, url, name }: Link) =>
  kind === 'image'
    ? { type: 'input_image' as const, image_url: url, detail: 'auto' as const, file_id: null }
    : { type: 'input_file' as const, file_url: url, ...(name !== undefined && { filename: name }) };

type InputItem =
  | ReturnType<typeof userMessage>
  | {
      readonly id: string;
      readonly type: 'function_call_output';
      readonly call_id: string;
      readonly status: 'completed';
      readonly output: string;
    }
  | {
      readonly id: string;
      readonly type: 'mcp_approval_response';
      readonly approval_request_id: string;
      readonly approve: boolean;
      readonly reason: string | null;
    };

export const inputItems = (requestEvents: readonly DurableEvent[]): InputItem[] =>
  requestEvents.flatMap(itemsOf);

function itemsOf(event: DurableEvent): InputItem[] {
  switch (event.type) {
    case 'input.accepted':
      return event.parts.length > 0 ? [userMessage(messageId(event.session, event.input), event.parts)] : [];
    case 'tool.ended':
      return [
        {
          id: `fco_${event.call}`,
          type: 'function_call_output' as const,
          call_id: event.call as string,
          status: 'completed' as const,
          output: textOf(event.parts),
        },
      ];
    case 'approval.answered':
      return [
        {
          id: `mcpa_${event.approval}`,
          type: 'mcp_approval_response' as const,
          approval_request_id: event.approval as string,
          approve: event.answer !== 'deny',
          reason: event.reason ?? null,
        },
      ];
    default:
      return [];
  }
}
