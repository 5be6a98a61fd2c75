/** Messages of the user and the agent, made from events. */
import {
  type PromptPart as CorePart,
  type DurableEvent,
  isObject,
  type JsonObject,
  type Link,
  textPart,
  withoutPages,
} from '@parlance/protocol';
import { questionText } from '../kit/approval-text.ts';
import type { Message, Part } from './objects.ts';

/** The message of an input, or its parts if it was sent in another dialect. */
export function inputMessage(event: DurableEvent<'input.accepted'>, taskId: string): Message | null {
  const { input, key, session, data } = event;
  const parts = sentParts(data) ?? inputParts(event).map(partOf);
  if (parts.length === 0) return null;
  return { messageId: key ?? input, contextId: session, taskId, role: 'ROLE_USER', parts };
}

/** Parts that the core stores as text are also stored as they were sent. */
export const SENT_PARTS = 'a2a.parts';

const sentParts = (data: JsonObject | undefined): Part[] | null => {
  const parts = data?.[SENT_PARTS];
  return Array.isArray(parts) && parts.every(isObject) ? (parts as Part[]) : null;
};

const inputParts = ({ parts, call }: DurableEvent<'input.accepted'>): readonly CorePart[] =>
  parts.length === 0 && call
    ? [textPart(`/tool ${call.tool} ${JSON.stringify(call.input)}`)]
    : withoutPages(parts);

/** Clients limit the size of an event, so large files are not repeated in the history. */
const MAX_RAW_LENGTH = 100_000;

function partOf(part: CorePart): Part {
  if (part.type === 'text') return part.link ? linkOf(part.link) : { text: part.text };
  const { data, mime } = part;
  const about = { mediaType: mime, ...(part.type === 'file' && { filename: part.name }) };
  if (data.length <= MAX_RAW_LENGTH) return { raw: data, ...about };
  const name = part.type === 'file' ? part.name : 'an image';
  return { text: `[${name}, ${mime}, ${Math.floor((data.length * 3) / 4)} bytes]` };
}

const linkOf = ({ url, mime, name }: Link): Part => ({
  url,
  ...(mime !== undefined && { mediaType: mime }),
  ...(name !== undefined && { filename: name }),
});

export type RequestedCall = { readonly tool: string; readonly input: JsonObject };

/** The question of a pending approval, for users and for programs. */
export function approvalMessage(event: DurableEvent<'approval.requested'>, call: RequestedCall): Message {
  const { approval, ask, session, turn } = event;
  const { description } = ask;
  return {
    messageId: approval,
    contextId: session,
    taskId: turn,
    role: 'ROLE_AGENT',
    parts: [
      { text: questionText(ask) },
      {
        data: {
          approval: { id: approval, tool: call.tool, input: call.input, description },
          answers: ['once', 'always', 'deny'],
        },
      },
    ],
  };
}

/** The answer as text, or as data. */
export function answerMessage(event: DurableEvent<'approval.answered'>): Message {
  const { id, approval, answer, reason, said, session, turn, attributes } = event;
  const part: Part =
    said === undefined ? { data: { approval, answer, ...(reason && { reason }) } } : { text: said };
  return {
    messageId: answerIdOf(attributes) ?? id,
    contextId: session,
    taskId: turn,
    role: 'ROLE_USER',
    parts: [part],
  };
}

/** The id of the message that answered an approval is stored under this name. */
export const ANSWER_ID = 'a2a.messageId';

const answerIdOf = (attributes: JsonObject | undefined): string | undefined => {
  const id = attributes?.[ANSWER_ID];
  return typeof id === 'string' ? id : undefined;
};

export const agentMessage = (
  { id, session }: Pick<DurableEvent, 'id' | 'session'>,
  taskId: string,
  text: string,
): Message => ({ messageId: id, contextId: session, taskId, role: 'ROLE_AGENT', parts: [{ text }] });
