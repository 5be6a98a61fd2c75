/** Out: the output of a turn, in pieces. Each endpoint converts the pieces to its own objects. */
import {
  type ApprovalId,
  type CallId,
  type DurableEvent,
  type FaultData,
  isTurnEvent,
  type JsonObject,
  type SessionEvent,
  type TurnId,
  type Usage,
} from '@parlance/protocol';
import { awaitsAnswer, type SessionSnapshot } from '../../../core/index.ts';
import { NONE, type Projection, type StepResult } from '../projection.ts';

export type RequestedCall = { readonly call: CallId; readonly tool: string; readonly input: JsonObject };
export type RequestedApproval = RequestedCall & { readonly approval: ApprovalId };
type Ended = Pick<DurableEvent<'tool.ended'>, 'outcome' | 'parts'>;

export type Piece = { readonly turn: TurnId } & (
  | { readonly kind: 'started' | 'withdrawn'; readonly input: string }
  | { readonly kind: 'text' | 'reasoning'; readonly block: string; readonly text: string }
  /** the block is complete */
  | { readonly kind: 'closed'; readonly block: string }
  /** `offset` characters of the call's arguments came before */
  | (Writing & { readonly kind: 'arguments' })
  /** output since the last step is discarded; `shown`: some of it may have been streamed */
  | { readonly kind: 'restarted'; readonly shown: boolean }
  | { readonly kind: 'step'; readonly usage: Usage; readonly stop: 'done' | 'calls' | 'length' | 'refused' }
  | (RequestedCall & { readonly kind: 'requested' | 'running' | 'deferred' })
  /** `before` is the previous phase of the call */
  | (RequestedCall & Ended & { readonly kind: 'result'; readonly before: Phase })
  /** the turn waits for an approval */
  | { readonly kind: 'asks' }
  | { readonly kind: 'replied'; readonly call: CallId }
  /** the turn waits until clients have answered all of these calls */
  | { readonly kind: 'waits'; readonly calls: readonly RequestedCall[] }
  /**
   * No call is running: the turn continues only with an answer to one of these, unless a call that has not been
   * evaluated yet starts at the same moment.
   */
  | {
      readonly kind: 'pauses';
      readonly calls: readonly RequestedCall[];
      readonly approvals: readonly RequestedApproval[];
    }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly fault: FaultData }
);

type Writing = {
  readonly call: CallId;
  readonly tool: string;
  readonly offset: number;
  readonly text: string;
};

export type Phase = 'requested' | 'waiting' | 'running' | 'deferred';
type OpenCall = RequestedCall & { readonly phase: Phase; readonly approval?: ApprovalId };

export type State = {
  /** the block being streamed */
  readonly block: string | null;
  /** calls without an outcome, in order of request */
  readonly calls: readonly OpenCall[];
};

export const IDLE: State = { block: null, calls: [] };

export const projection: Projection<State, Piece> = { start, step, attach };

function start({ open, deferred }: SessionSnapshot): State {
  return { block: open?.block ?? null, calls: deferred.map((call) => ({ ...call, phase: 'deferred' })) };
}

/** The output that is being streamed, so far. */
function attach(_state: State, { open, openArguments }: SessionSnapshot): Piece[] {
  const block: Piece[] = open
    ? [{ turn: open.turn, kind: open.kind, block: open.block, text: open.text }]
    : [];
  const calls = openArguments.map((call): Piece => ({ kind: 'arguments', offset: 0, ...call }));
  return [...block, ...calls];
}

function step(state: State, event: SessionEvent): StepResult<State, Piece> {
  if (!isTurnEvent(event)) return [state, NONE];
  switch (event.type) {
    case 'turn.started':
      return [IDLE, [{ body: { turn: event.turn, kind: 'started', input: event.input } }]];
    case 'input.cancelled':
      return [state, [{ body: { turn: event.turn, kind: 'withdrawn', input: event.input } }]];
    case 'text.delta':
    case 'reasoning.delta': {
      const { turn, block, text } = event;
      const kind = event.type === 'text.delta' ? 'text' : 'reasoning';
      return [state.block === block ? state : { ...state, block }, [{ body: { turn, kind, block, text } }]];
    }
    case 'call.arguments.delta': {
      const { turn, call, tool, offset, text } = event;
      return [state, [{ body: { turn, kind: 'arguments', call, tool, offset, text } }]];
    }
    case 'text.ended':
    case 'reasoning.ended': {
      const { turn, block, text } = event;
      const kind = event.type === 'text.ended' ? 'text' : 'reasoning';
      const closed = { body: { turn, kind: 'closed', block } } as const;
      const wasStreamed = state.block === block || text === '';
      return [
        { ...state, block: null },
        wasStreamed ? [closed] : [{ body: { turn, kind, block, text } }, closed],
      ];
    }
    case 'step.restarted':
    case 'turn.resumed': {
      const shown = event.type === 'turn.resumed' || event.shown === true;
      return [{ ...state, block: null }, [{ body: { turn: event.turn, kind: 'restarted', shown } }]];
    }
    case 'step.ended': {
      const { turn, usage, stop } = event;
      return [state, [{ body: { turn, kind: 'step', usage, stop } }]];
    }
    case 'call.requested': {
      const { turn, call, tool, input } = event;
      const calls = [...state.calls, { call, tool, input, phase: 'requested' as const }];
      return [{ ...state, calls }, [{ body: { turn, kind: 'requested', call, tool, input } }]];
    }
    case 'approval.requested': {
      const { turn, call, approval } = event;
      return changed(state, { turn, call, to: { phase: 'waiting', approval } }, [{ turn, kind: 'asks' }]);
    }
    case 'approval.answered': {
      const { turn, call } = event;
      return changed(state, { turn, call, to: { phase: 'running' } }, [{ turn, kind: 'replied', call }]);
    }
    case 'tool.started':
    case 'call.deferred': {
      const { turn, call } = event;
      const phase = event.type === 'tool.started' ? 'running' : 'deferred';
      return changed(state, { turn, call, to: { phase } }, ofCall(state, event, { kind: phase }));
    }
    case 'tool.ended': {
      const { turn, call, outcome, parts } = event;
      const before = state.calls.find((open) => open.call === call)?.phase ?? 'running';
      const result = ofCall(state, event, { kind: 'result' as const, outcome, parts, before });
      return changed(state, { turn, call, to: null }, result);
    }
    case 'turn.ended':
      return [IDLE, [{ body: { turn: event.turn, kind: 'ended' } }]];
    case 'turn.failed':
      return [IDLE, [{ body: { turn: event.turn, kind: 'failed', fault: event.fault } }]];
    case 'turn.cancelled':
      return [IDLE, [{ body: { turn: event.turn, kind: 'failed', fault: CANCELLED } }]];
    case 'input.accepted':
    case 'agent.changed':
    case 'approval.explained':
    case 'call.progress':
      return [state, NONE];
  }
}

const CANCELLED: FaultData = { code: 'cancelled', message: 'The turn was cancelled.' };

type Named = { readonly turn: TurnId; readonly call: CallId };

/** A piece about a call whose request has been seen. */
function ofCall<Rest extends object>(state: State, { turn, call }: Named, rest: Rest) {
  const known = state.calls.find((open) => open.call === call);
  return known ? [{ ...rest, turn, call, tool: known.tool, input: known.input }] : [];
}

type Change = Named & {
  /** null if the call has ended */
  readonly to: Pick<OpenCall, 'phase' | 'approval'> | null;
};

function changed(
  state: State,
  { turn, call, to }: Change,
  pieces: readonly Piece[],
): StepResult<State, Piece> {
  const calls = state.calls.flatMap((open) => {
    if (open.call !== call) return [open];
    return to ? [{ call, tool: open.tool, input: open.input, ...to }] : [];
  });
  return [{ ...state, calls }, [...pieces, ...waiting(turn, calls)].map((body) => ({ body }))];
}

/** Once clients execute all open calls, the turn continues only with their answers. */
function waiting(turn: TurnId, open: readonly OpenCall[]): Piece[] {
  const requestedCall = ({ call, tool, input }: OpenCall): RequestedCall => ({ call, tool, input });
  const calls = open.filter(({ phase }) => phase === 'deferred').map(requestedCall);
  const approvals = open.flatMap((one) =>
    one.approval ? [{ ...requestedCall(one), approval: one.approval }] : [],
  );
  if (!awaitsAnswer(open)) return [];
  const pauses: Piece = { turn, kind: 'pauses', calls, approvals };
  return calls.length === open.length ? [{ turn, kind: 'waits', calls }, pauses] : [pauses];
}
