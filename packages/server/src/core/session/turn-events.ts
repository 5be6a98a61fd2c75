/** The events that start, interrupt and close a turn. */
import {
  type AgentRef,
  type BlockId,
  type CallId,
  type DurableEventBody,
  type TurnId,
  textPart,
} from '@parlance/protocol';
import type { OpenCall, QueuedInput, Turn } from './session-state.ts';

/** A block that is being streamed. */
export type StreamedBlock = {
  readonly kind: 'text' | 'reasoning';
  readonly block: BlockId;
  readonly text: string;
  readonly durationMs: number;
};

/** The id of a call that a user requested directly. */
export const directCallId = (turn: TurnId): CallId => `call_${turn}` as CallId;

/** Starts a turn for the input, with its direct call if any. */
export function turnStarted(next: QueuedInput, agent: AgentRef): DurableEventBody[] {
  const turn = next.turn ?? (next.input as string as TurnId);
  const started: DurableEventBody = {
    type: 'turn.started',
    turn,
    input: next.input,
    agent: next.agent ?? agent,
  };
  if (!next.call) return [started];
  return [started, { type: 'call.requested', turn, call: directCallId(turn), ...next.call }];
}

/** Ends the turn now: keeps the streamed part of the open block and stops open calls. */
export function interruption(
  turn: Turn,
  reason: 'cancelled' | 'superseded' | 'denied',
  open: StreamedBlock | null,
): DurableEventBody[] {
  return [
    ...closedBlock(turn, open),
    ...turn.calls.flatMap((call) => stoppedCall(call, turn.id)),
    { type: 'turn.cancelled', turn: turn.id, reason },
  ];
}

export function closedBlock(turn: Turn, open: StreamedBlock | null): DurableEventBody[] {
  if (!open || open.text === '') return [];
  const { block, text, durationMs } = open;
  return open.kind === 'text'
    ? [{ type: 'text.ended', turn: turn.id, block, text, interrupted: true }]
    : [{ type: 'reasoning.ended', turn: turn.id, block, text, durationMs, interrupted: true }];
}

/** A running call may have been executed, entirely or in part, before it was stopped. */
const stoppedCall = (call: OpenCall, turn: TurnId): DurableEventBody[] =>
  call.phase === 'running'
    ? [{ ...unknownOutcome(call, turn, 'Aborted while it ran.'), interrupted: true }]
    : abortedCalls([call], turn);

export const abortedCalls = (calls: readonly OpenCall[], turn: TurnId): DurableEventBody[] =>
  calls.map((call) => ({
    type: 'tool.ended',
    turn,
    call: call.call,
    outcome: 'aborted',
    parts: [textPart('aborted')],
    durationMs: 0,
  }));

/** The call has started, but its outcome is unknown. */
export const unknownOutcome = (
  call: OpenCall,
  turn: TurnId,
  why: string,
): DurableEventBody<'tool.ended'> => ({
  type: 'tool.ended',
  turn,
  call: call.call,
  outcome: 'unknown',
  parts: [
    textPart(
      `${why} The outcome is unknown: it may have happened wholly, in part or not at all. It was not repeated.`,
    ),
  ],
  durationMs: 0,
});
