import { type Command, type DurableEventBody, Fault, textPart } from '@parlance/protocol';
import type { DecisionContext } from './decision.ts';
import { type SessionState, waitingCall } from './session-state.ts';
import { interruption } from './turn-events.ts';

export function decideAnswer(
  state: SessionState,
  command: Extract<Command, { type: 'approval.answer' }>,
  context: DecisionContext,
): DurableEventBody[] {
  const { turn } = state;
  const waiting = waitingCall(state, command.approval);
  if (command.approval && !waiting && !context.approvalKnown) {
    throw new Fault('not_found', 'There is no such approval.');
  }
  if (!turn || !waiting) {
    throw new Fault('no_approval', 'No pending approval request');
  }
  if (command.hash !== undefined && command.hash !== waiting.hash) {
    throw new Fault('invalid', 'The answer does not match the pending approval.');
  }
  const { call, approval, ask } = waiting;
  const grant = command.answer === 'always' ? ask.grant : undefined;
  const { by, dialect } = context;
  const { reason, said, terms, attributes } = command;
  const answered: DurableEventBody = {
    type: 'approval.answered',
    turn: turn.id,
    call,
    approval,
    answer: command.answer,
    by,
    dialect,
    reason,
    said,
    grant,
    terms,
    attributes,
  };
  if (command.answer !== 'deny') return [answered];
  const denial = textPart(reason ? `The user denied this call: ${reason}` : 'The user denied this call.');
  const denied: DurableEventBody = {
    type: 'tool.ended',
    turn: turn.id,
    call,
    outcome: 'denied',
    parts: [denial],
    durationMs: 0,
  };
  if (!command.exit) return [answered, denied];
  const others = { ...turn, calls: turn.calls.filter((open) => open.call !== call) };
  return [answered, denied, ...interruption(others, 'denied', null)];
}
