/** A session in each phase, for tests of the domain. */
import {
  type AgentRef,
  type ApprovalId,
  type CallId,
  type DurableEvent,
  type DurableEventBody,
  Fault,
  type InputId,
  type InputMode,
  type SessionId,
  type TurnId,
  textPart,
} from '@parlance/protocol';
import { type DecidableCommand, type DecisionContext, decide } from '../core/session/decide.ts';

import { evolve } from '../core/session/evolve.ts';
import { initialState, type SessionState } from '../core/session/session-state.ts';

export const CODER: AgentRef = { id: 'coder', name: 'Coder' };
export const USAGE = { inputTokens: 3, outputTokens: 2 };
const ASK = { kind: 'command' as const, command: ['ls'], description: 'Run ls', grant: 'shell:ls' };

let ids = 0;
export const newId = () => `id-${++ids}`;
export const asking = (more: Partial<DecisionContext> = {}): DecisionContext => ({
  by: 'local',
  dialect: 'native',
  via: undefined,
  key: undefined,
  apiKey: undefined,
  domain: 'general',
  agent: CODER,
  answeredBy: undefined,
  open: null,
  replaced: null,
  isKnown: false,
  mayApprove: true,
  maxQueued: Number.POSITIVE_INFINITY,
  rewind: null,
  ids: { input: newId() as InputId, turn: newId() as TurnId },
  historyInputs: [],
  ...more,
});

export const after = (state: SessionState, bodies: readonly DurableEventBody[]): SessionState =>
  bodies.reduce((before, body) => {
    const { seq } = before;
    const head = { session: 's' as SessionId, id: newId(), at: 1_000 + seq, seq: seq + 1 };
    return evolve(before, { ...body, ...head } as DurableEvent);
  }, state);

export const give = (
  state: SessionState,
  command: DecidableCommand,
  more: Partial<DecisionContext> = {},
): SessionState => after(state, decide(state, command, asking(more)));

export const types = (bodies: readonly DurableEventBody[]): string[] => bodies.map((body) => body.type);
export const submit = (text: string, mode: InputMode = 'queue'): DecidableCommand => ({
  type: 'input.submit',
  parts: [textPart(text)],
  mode,
  named: true,
});
export const inTurn = (state: SessionState, make: (turn: TurnId) => DurableEventBody[]): SessionState => {
  if (!state.turn) throw new Error('no turn is running');
  return after(state, make(state.turn.id));
};
export const callId = 'call-1' as CallId;

export const newSession = initialState(CODER);
export const thinking = give(newSession, submit('Hi'));
export const queued = give(thinking, submit('And then?'));
export const requested = inTurn(thinking, (turn) => [
  { type: 'call.requested', turn, call: callId, tool: 'shell', input: { command: 'ls' } },
  { type: 'step.ended', turn, usage: USAGE, stop: 'calls' },
]);
export const APPROVAL = 'approval-1' as ApprovalId;
export const waiting = inTurn(requested, (turn) => [
  { type: 'approval.requested', turn, call: callId, approval: APPROVAL, ask: ASK, hash: 'hash-1' },
]);
export const allowed = give(waiting, { type: 'approval.answer', answer: 'once', exit: false });
export const running = inTurn(allowed, (turn) => [{ type: 'tool.started', turn, call: callId }]);
export const idle = inTurn(thinking, (turn) => [
  {
    type: 'turn.ended',
    turn,
    usage: USAGE,
    durationMs: 1,
    context: { tokens: 1, limit: 2, items: 1, strategy: 'none' },
  },
]);
export const failed = inTurn(thinking, (turn) => [
  { type: 'turn.failed', turn, fault: { code: 'internal', message: 'broken' }, durationMs: 1 },
]);

export const PHASES = {
  unborn: newSession,
  idle,
  failed,
  thinking,
  queued,
  requested,
  waiting,
  allowed,
  running,
};

export const outcomeOf = (
  state: SessionState,
  command: DecidableCommand,
  more: Partial<DecisionContext> = {},
): string[] | string => {
  try {
    return types(decide(state, command, asking(more)));
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown.code;
    throw thrown;
  }
};
