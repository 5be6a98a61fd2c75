/** Out: the bodies of `session/update`. */
import { type Json, type JsonObject, type Part, type PromptPart, withoutPages } from '@parlance/protocol';

export type Content =
  | { type: 'text'; text: string }
  | { type: 'image'; mimeType: string; data: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; blob: string } };

export type Diff = { type: 'diff'; path: string; oldText: string | null; newText: string };
export type CallContent = { type: 'content'; content: Content } | Diff;

export type ToolKind = 'read' | 'edit' | 'execute' | 'search' | 'fetch' | 'think' | 'other';

export type CallFields = {
  toolCallId: string;
  title: string;
  name: string;
  kind: ToolKind;
  status: 'pending';
  rawInput: JsonObject;
  locations?: { path: string }[];
  content?: CallContent[];
};

export type PlanEntry = {
  content: string;
  priority: 'medium';
  status: 'pending' | 'in_progress' | 'completed';
};

export type Chunk = {
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk';
  content: Content;
  messageId: string;
};

export type Update =
  | Chunk
  | ({ sessionUpdate: 'tool_call' } & CallFields)
  | {
      sessionUpdate: 'tool_call_update';
      toolCallId: string;
      status: 'in_progress' | 'completed' | 'failed';
      content?: CallContent[];
      rawOutput?: Json;
    }
  | { sessionUpdate: 'plan'; entries: PlanEntry[] }
  | { sessionUpdate: 'session_info_update'; title: string; updatedAt: string }
  | { sessionUpdate: 'current_mode_update'; currentModeId: string }
  | { sessionUpdate: 'usage_update'; used: number; size: number };

export const message = (
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
  messageId: string,
): Update => ({ sessionUpdate, content: { type: 'text', text }, messageId });

/** The message of a user, one chunk per part. */
export const userMessage = (parts: readonly Part[], messageId: string): Update[] =>
  withoutPages(parts)
    .filter((part) => part.type !== 'text' || part.text !== '')
    .map((part) => ({ sessionUpdate: 'user_message_chunk', content: contentOf(part), messageId }));

export function contentOf(part: PromptPart): Content {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image', mimeType: part.mime, data: part.data };
    case 'file':
      return { type: 'resource', resource: { uri: part.name, mimeType: part.mime, blob: part.data } };
  }
}

export const contentsOf = (parts: readonly Part[]): CallContent[] =>
  withoutPages(parts).map((part) => ({ type: 'content', content: contentOf(part) }));
