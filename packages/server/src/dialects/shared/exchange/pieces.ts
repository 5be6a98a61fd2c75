/** Out: what a turn says, piece by piece. The requests that show it put the pieces into the objects of their endpoint. */
import type { CallId, FaultData, JsonObject, SessionEvent, TurnId, Usage } from '@parlance/protocol';
import type { SessionSnapshot } from '../../../core/api/index.ts';
import { NONE, type Projection, type Stepped } from '../projection.ts';

export type AskedCall = { readonly call: CallId; readonly tool: string; readonly input: JsonObject };

export type Piece = { readonly turn: TurnId } & (
  | { readonly kind: 'started'; readonly input: string }
  | { readonly kind: 'text' | 'reasoning'; readonly block: string; readonly text: string }
  /** `offset` characters of the call's arguments came before */
  | (Writing & { readonly kind: 'arguments' })
  /** what was said since the last step is void */
  | { readonly kind: 'restarted' }
  | { readonly kind: 'step'; readonly usage: Usage; readonly stop: 'done' | 'calls' | 'length' | 'refused' }
  /** the turn goes on when a person has answered */
  | { readonly kind: 'asks' }
  /** the turn goes on when clients have answered all of these calls */
  | { readonly kind: 'waits'; readonly calls: readonly AskedCall[] }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly fault: FaultData }
);

type Writing = {
  readonly call: CallId;
  readonly tool: string;
  readonly offset: number;
  readonly text: string;
};

type OpenCall = AskedCall & { readonly deferred: boolean };

export type State = {
  /** the block whose text is streamed */
  readonly block: string | null;
  /** the calls without an outcome, in the order of their requests */
  readonly calls: readonly OpenCall[];
};

const REST: State = { block: null, calls: [] };

export const projection: Projection<State, Piece> = { start, step, attach };

function start({ open, deferred }: SessionSnapshot): State {
  return { block: open?.block ?? null, calls: deferred.map((call) => ({ ...call, deferred: true })) };
}

/** What is being streamed, so far. */
function attach(_state: State, { open, openArguments }: SessionSnapshot): Piece[] {
  const block: Piece[] = open
    ? [{ turn: open.turn, kind: open.kind, block: open.block, text: open.text }]
    : [];
  const calls = openArguments.map((call): Piece => ({ kind: 'arguments', offset: 0, ...call }));
  return [...block, ...calls];
}

function step(state: State, event: SessionEvent): Stepped<State, Piece> {
  switch (event.type) {
    case 'turn.started':
      return [REST, [{ body: { turn: event.turn, kind: 'started', input: event.input } }]];
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
      const wasStreamed = state.block === block || text === '';
      return [{ ...state, block: null }, wasStreamed ? NONE : [{ body: { turn, kind, block, text } }]];
    }
    case 'step.restarted':
    case 'turn.resumed':
      return [{ ...state, block: null }, [{ body: { turn: event.turn, kind: 'restarted' } }]];
    case 'step.ended': {
      const { turn, usage, stop } = event;
      return [state, [{ body: { turn, kind: 'step', usage, stop } }]];
    }
    case 'call.requested': {
      const { call, tool, input } = event;
      return [{ ...state, calls: [...state.calls, { call, tool, input, deferred: false }] }, NONE];
    }
    case 'approval.requested':
      return [state, [{ body: { turn: event.turn, kind: 'asks' } }]];
    case 'call.deferred':
      return waiting(
        event.turn,
        state,
        state.calls.map((open) => (open.call === event.call ? { ...open, deferred: true } : open)),
      );
    case 'tool.ended':
      return waiting(
        event.turn,
        state,
        state.calls.filter(({ call }) => call !== event.call),
      );
    case 'turn.ended':
      return [REST, [{ body: { turn: event.turn, kind: 'ended' } }]];
    case 'turn.failed':
      return [REST, [{ body: { turn: event.turn, kind: 'failed', fault: event.fault } }]];
    case 'turn.cancelled':
      return [REST, [{ body: { turn: event.turn, kind: 'failed', fault: CANCELLED } }]];
    case 'session.created':
    case 'history.imported':
    case 'session.cleared':
    case 'session.rewound':
    case 'session.configured':
    case 'session.renamed':
    case 'session.archived':
    case 'session.labelled':
    case 'session.erased':
    case 'input.accepted':
    case 'input.cancelled':
    case 'agent.changed':
    case 'approval.explained':
    case 'approval.answered':
    case 'tool.started':
    case 'grant.revoked':
    case 'context.compacted':
    case 'call.progress':
      return [state, NONE];
  }
}

const CANCELLED: FaultData = { code: 'cancelled', message: 'The turn was cancelled.' };

/** Once clients carry out all that is open, the turn goes on only with their answers. */
function waiting(turn: TurnId, state: State, calls: readonly OpenCall[]): Stepped<State, Piece> {
  const waits = calls.length > 0 && calls.every(({ deferred }) => deferred);
  const asked = calls.map(({ call, tool, input }) => ({ call, tool, input }));
  return [{ ...state, calls }, waits ? [{ body: { turn, kind: 'waits', calls: asked } }] : NONE];
}
