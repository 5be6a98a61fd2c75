import { type Command, type DurableEventBody, Fault } from '@parlance/protocol';
import type { SessionState } from './session-state.ts';

type CallAnswer = Extract<Command, { type: 'call.answer' }>;

/** The result of a deferred call; it may arrive with an input. */
export type CallResult = Pick<CallAnswer, 'call' | 'parts' | 'failed'> & Partial<CallAnswer>;

export function decideCallAnswer(state: SessionState, command: CallResult): DurableEventBody[] {
  const { turn } = state;
  const call = turn?.calls.find((open) => open.call === command.call && open.phase === 'deferred');
  if (!turn || !call) throw new Fault('not_found', 'There is no such deferred call.');
  const { parts, data, failed, untrusted, said, terms, attributes, system } = command;
  const outcome = failed ? 'failed' : 'ok';
  const ended: DurableEventBody = {
    type: 'tool.ended',
    turn: turn.id,
    call: call.call,
    outcome,
    parts,
    data,
    durationMs: 0,
    said,
    terms,
    attributes,
    ...(system && { system }),
  };
  // The server does not know where the result of a client's own tool comes from.
  const isUntrusted = untrusted ?? turn.terms.tools?.some(({ name }) => name === call.tool);
  return [isUntrusted ? { ...ended, untrusted: true } : ended];
}
