/** The outcome of a call, with the same text on the socket and over REST. */
import { type DurableEvent, type JsonObject, textOf } from '@parlance/protocol';
import { resultData } from '../kit/calls.ts';

export const REJECTED = 'Tool rejected';

/** The tool's data, or its text as `output`. */
export const resultOf = (event: DurableEvent<'tool.ended'>): JsonObject =>
  resultData(event) ?? { output: textOf(event.parts) };

/** The outcome as the content of a message. `denial` is the reason for a denied call. */
export function outcomeText(ended: DurableEvent<'tool.ended'>, denial: string): string {
  if (ended.outcome === 'denied') return denial || textOf(ended.parts) || REJECTED;
  return textOf(ended.parts) || JSON.stringify(resultOf(ended));
}
