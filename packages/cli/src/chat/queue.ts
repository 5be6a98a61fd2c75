/** Messages that wait for their turn. ↑ in an empty field takes the last one back, to change or to drop it. */
import type { TurnId } from '@parlance/protocol';
import type { SessionView } from '@parlance/sdk';
import { mentionedFiles } from './attach.ts';

export type QueuedMessage = {
  readonly turn: TurnId;
  /** null if taking it back would lose attachments: files that its text does not name */
  readonly text: string | null;
};

/** Null if no message waits. */
export function lastQueued({ queued }: Pick<SessionView, 'queued'>): QueuedMessage | null {
  const last = queued.findLast(({ turn, call }) => turn !== undefined && !call);
  if (last?.turn === undefined) return null;
  const texts = last.parts.filter((part) => part.type === 'text').map(({ text }) => text);
  const text = texts.join('\n');
  const attached = last.parts.length - texts.length;
  return { turn: last.turn, text: mentionedFiles(text).size < attached ? null : text };
}
