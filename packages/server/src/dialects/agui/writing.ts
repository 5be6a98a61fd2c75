/** Calls while the model writes their arguments. */
import type { DurableEvent } from '@parlance/protocol';
import type { ContentEvent } from './events.ts';

export type CallWriting = {
  readonly call: string;
  /** number of characters of the arguments that were shown */
  readonly length: number;
};

export const NOTHING_WRITTEN: readonly CallWriting[] = [];

type Written = { readonly writing: readonly CallWriting[]; readonly events: readonly ContentEvent[] };

type ArgumentsPart = {
  readonly call: string;
  readonly tool: string;
  readonly offset: number;
  readonly text: string;
};

/** `message` is the message that the call belongs to. */
export function writeCall(
  writing: readonly CallWriting[],
  { call, tool, offset, text }: ArgumentsPart,
  message: string,
): Written {
  const known = writing.find((one) => one.call === call);
  if (offset !== (known?.length ?? 0)) return { writing, events: [] };
  const next = { call, length: offset + text.length };
  const events = [...(known ? [] : [callStarted(call, tool, message)]), ...written(call, text)];
  return { writing: [...writing.filter((one) => one !== known), next], events };
}

/** The call is complete: shows the rest of its arguments. */
export function endCall(
  writing: readonly CallWriting[],
  { call, tool, input }: DurableEvent<'call.requested'>,
  message: string,
): Written {
  const known = writing.find((one) => one.call === call);
  const events = [
    ...(known ? [] : [callStarted(call, tool, message)]),
    ...(known && known.length > 0 ? [] : written(call, JSON.stringify(input))),
    { type: 'TOOL_CALL_END', toolCallId: call } as const,
  ];
  return { writing: writing.filter((one) => one !== known), events };
}

/** Closes interrupted calls. */
export const endWriting = (writing: readonly CallWriting[]): ContentEvent[] =>
  writing.map(({ call }) => ({ type: 'TOOL_CALL_END', toolCallId: call }));

const callStarted = (call: string, tool: string, message: string): ContentEvent => ({
  type: 'TOOL_CALL_START',
  toolCallId: call,
  toolCallName: tool,
  parentMessageId: message,
});

const written = (call: string, text: string): ContentEvent[] =>
  text === '' ? [] : [{ type: 'TOOL_CALL_ARGS', toolCallId: call, delta: text }];
