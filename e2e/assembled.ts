/** The texts that a reconnected client shows, by the rules of its contract, and the expected ones. */
import { type DurableEvent, textOf } from '../packages/protocol/src/index.ts';
import type { AnyFrame } from '../packages/server/src/testing/client.ts';
import { isQuestion } from './drivers.ts';

type Item = { id: string; role?: string; content?: { text: string }[] };
type Chunk = { messageId: string; chunk: string };
type Piece = { readonly id: string; readonly text: string };

/**
 * Deltas with one id form one text. The text of a new socket replaces that of the old one under the same id.
 */
function joined(
  sockets: readonly (readonly AnyFrame[])[],
  piece: (frame: AnyFrame) => Piece | null,
): string[] {
  const texts = new Map<string, string>();
  for (const frames of sockets) {
    const here = new Map<string, string>();
    for (const frame of frames) {
      const found = piece(frame);
      if (found) here.set(found.id, (here.get(found.id) ?? '') + found.text);
    }
    for (const [id, text] of here) texts.set(id, text);
  }
  return [...texts.values()];
}

const item = (frame: AnyFrame): Piece | null => {
  const { id, role, content } = (frame.payload ?? {}) as Item;
  return frame.type === 'response_item' && role === 'assistant'
    ? { id, text: content?.[0]?.text ?? '' }
    : null;
};

const chunk = (frame: AnyFrame): Piece | null => {
  const { messageId, chunk } = (frame.payload ?? {}) as Chunk;
  return frame.type === 'message_chunk' ? { id: messageId, text: chunk } : null;
};

const every = (sockets: readonly (readonly AnyFrame[])[], type: string, field: string): string[] =>
  sockets
    .flat()
    .flatMap((frame) => (frame.type === type && !isQuestion(frame) ? [String(frame[field])] : []));

/** The texts of a turn for a client that used these sockets in order. */
export const ASSEMBLED: Readonly<Record<string, (sockets: readonly (readonly AnyFrame[])[]) => string[]>> = {
  // A line break ends each block on the wire.
  agentloop: (sockets) => joined(sockets, item).map((text) => text.replace(/\n$/, '')),
  conversations: (sockets) => joined(sockets, chunk),
  extension: (sockets) => every(sockets, 'agent_response', 'content'),
  broadcast: (sockets) => every(sockets, 'agent_message', 'message'),
};

const textsOf = (events: readonly DurableEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));

/** The text after the last call or, if there is none, the outcome of that call. */
function lastStep(events: readonly DurableEvent[]): string {
  const from = events.findLastIndex(({ type }) => type === 'call.requested');
  const texts = textsOf(events.slice(from + 1));
  const ended = events.findLast((event) => event.type === 'tool.ended');
  return texts.length > 0 ? texts.join('\n\n') : textOf(ended?.parts ?? []);
}

/** The expected texts, from the stored events. */
export const FINAL: Readonly<Record<string, (events: readonly DurableEvent[]) => string[]>> = {
  agentloop: textsOf,
  conversations: (events) => [textsOf(events).join('\n\n')],
  extension: (events) => [lastStep(events)],
  broadcast: (events) => [lastStep(events)],
};

/** The frames with reasoning; `extension` sends it only with the answer. */
export const THOUGHTS: Readonly<Record<string, (frame: AnyFrame) => boolean>> = {
  agentloop: ({ payload }) => (payload as { type?: string } | undefined)?.type === 'reasoning',
  conversations: ({ type }) => type === 'workflow_thought',
  broadcast: ({ type, reasoning }) =>
    type === 'agent_thinking' && !String(reasoning).startsWith('Waiting for approval'),
  extension: ({ type, reasoning }) => type === 'agent_response' && reasoning !== undefined,
};
