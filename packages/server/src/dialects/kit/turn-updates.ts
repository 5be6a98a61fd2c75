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
  writtenQuestion,
} from '@parlance/protocol';
import { awaitsAnswer, type Engine, type SessionRef, type SessionSnapshot } from '../../core/index.ts';
import { NONE, type Projection, type StepResult } from './projection.ts';
import { type TurnProjection, TurnReader } from './turn-reader.ts';

export type RequestedCall = { readonly call: CallId; readonly tool: string; readonly input: JsonObject };
/** For an approval of a sub-agent, `input` is what that asks. */
export type RequestedApproval = RequestedCall & { readonly approval: ApprovalId };
type Ended = Pick<DurableEvent<'tool.ended'>, 'outcome' | 'parts'>;

export type TurnUpdate = { readonly turn: TurnId } & (
  | { readonly kind: 'started' | 'withdrawn'; readonly input: string }
  | { readonly kind: 'text' | 'reasoning'; readonly block: string; readonly text: string }
  /** the block is complete */
  | { readonly kind: 'closed'; readonly block: string }
  /** `offset` characters of the call's arguments came before */
  | (Writing & { readonly kind: 'arguments' })
  /** output since the last step is discarded; `shown`: some of it may have been streamed */
  | {
      readonly kind: 'restarted';
      readonly shown: boolean;
      /** another model answers from here on */
      readonly model?: string;
    }
  | {
      readonly kind: 'step';
      readonly usage: Usage;
      readonly stop: 'done' | 'calls' | 'length' | 'refused';
      /** the model that answered, if it is known */
      readonly model?: string | undefined;
    }
  | (RequestedCall & { readonly kind: 'requested' | 'running' | 'deferred' })
  /** `before` is the previous phase of the call */
  | (RequestedCall & Ended & { readonly kind: 'result'; readonly before: Phase })
  /** the turn needs an approval */
  | { readonly kind: 'approval_requested' }
  | { readonly kind: 'replied'; readonly call: CallId }
  /** Before the next update the turn was blocked: it continued only with an answer to one of these. */
  | ({ readonly kind: 'blocked' } & Blocked)
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly fault: FaultData }
);

export type Blocked = {
  /** calls that clients execute */
  readonly deferred: readonly RequestedCall[];
  readonly approvals: readonly RequestedApproval[];
  /** they have been written as text; the next message answers them */
  readonly questions: readonly unknown[];
  /** the event that blocked the turn */
  readonly since: Position;
};

export type Position = { readonly seq: number; readonly at: number };

type Writing = {
  readonly call: CallId;
  readonly tool: string;
  readonly offset: number;
  readonly text: string;
};

export type Phase = 'requested' | 'waiting' | 'running' | 'deferred' | 'asking';
type OpenCall = RequestedCall & {
  readonly phase: Phase;
  readonly approval?: ApprovalId;
  /** what a sub-agent asks in place of the call */
  readonly asks?: JsonObject;
};

export type State = {
  /** the block being streamed */
  readonly block: string | null;
  /** calls without an outcome, in order of request */
  readonly calls: readonly OpenCall[];
  /** the last event that changed the phase of a call; null if there was none in the events read */
  readonly changed: Position | null;
  /** those that wait for an answer */
  readonly questions: readonly string[];
};

export const IDLE: State = { block: null, calls: [], changed: null, questions: [] };

export const projection: Projection<State, TurnUpdate> & TurnProjection<State, TurnUpdate> = {
  start,
  step: (state, event) => {
    const result = step(state, event);
    const isOpen = state.calls.length + state.questions.length > 0;
    const blocked = isOpen ? blockedBefore(state, event) : null;
    return blocked ? [result[0], [{ body: blocked }, ...result[1]]] : result;
  },
  join: (state, now) => [
    { ...state, block: now.open?.block ?? null },
    attach(state, now).map((body) => ({ body })),
  ],
  attach,
};

export type UpdateReader = TurnReader<State, TurnUpdate>;

/** Updates are kept until the reader's `follow` is called. `state` is the state after event number `after`. */
export const readUpdates = (
  engine: Pick<Engine, 'watch'>,
  ref: SessionRef,
  { after, state = IDLE }: { readonly after: number | 'now'; readonly state?: State },
): Promise<UpdateReader> => TurnReader.open(engine, ref, { projection, after, state });

function start({ open, deferred, questions }: SessionSnapshot): State {
  return {
    ...IDLE,
    block: open?.block ?? null,
    calls: deferred.map((call) => ({ ...call, phase: 'deferred' })),
    questions: questions.map(({ question }) => question),
  };
}

/** The output that is being streamed, so far. */
function attach(_state: State, { open, openArguments }: SessionSnapshot): TurnUpdate[] {
  const block: TurnUpdate[] = open
    ? [{ turn: open.turn, kind: open.kind, block: open.block, text: open.text }]
    : [];
  const calls = openArguments.map((call): TurnUpdate => ({ kind: 'arguments', offset: 0, ...call }));
  return [...block, ...calls];
}

function step(state: State, event: SessionEvent): StepResult<State, TurnUpdate> {
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
      const model = event.type === 'step.restarted' ? event.fallback?.model : undefined;
      const restarted = { turn: event.turn, kind: 'restarted' as const, shown, ...(model && { model }) };
      return [{ ...state, block: null }, [{ body: restarted }]];
    }
    case 'step.ended': {
      const { turn, usage, stop, model } = event;
      return [state, [{ body: { turn, kind: 'step', usage, stop, ...(model && { model }) } }]];
    }
    case 'call.requested': {
      const { turn, call, tool, input } = event;
      const calls = [...state.calls, { call, tool, input, phase: 'requested' as const }];
      return [{ ...state, calls }, [{ body: { turn, kind: 'requested', call, tool, input } }]];
    }
    case 'approval.requested': {
      const { turn, approval, ask, child } = event;
      const asks = child && { asks: { command: ask.command, description: ask.description } };
      const waiting = { phase: 'waiting', approval, ...asks } as const;
      return changed(state, event, waiting, [{ turn, kind: 'approval_requested' }]);
    }
    case 'approval.answered': {
      const { turn, call } = event;
      return changed(state, event, { phase: 'running' }, [{ turn, kind: 'replied', call }]);
    }
    case 'tool.started':
    case 'call.deferred': {
      const phase = event.type === 'tool.started' ? 'running' : 'deferred';
      return changed(state, event, { phase }, ofCall(state, event, { kind: phase }));
    }
    case 'tool.ended': {
      const { call, outcome, parts } = event;
      const before = state.calls.find((open) => open.call === call)?.phase ?? 'running';
      const result = ofCall(state, event, { kind: 'result' as const, outcome, parts, before });
      return changed(state, event, null, result);
    }
    case 'turn.ended':
      return [IDLE, [{ body: { turn: event.turn, kind: 'ended' } }]];
    case 'turn.failed':
      return [IDLE, [{ body: { turn: event.turn, kind: 'failed', fault: event.fault } }]];
    case 'turn.cancelled':
      return [IDLE, [{ body: { turn: event.turn, kind: 'failed', fault: CANCELLED } }]];
    case 'question.asked':
    case 'question.repeated': {
      const { turn, id: block } = event;
      const said: readonly TurnUpdate[] = [
        { turn, kind: 'text', block, text: writtenQuestion(event) },
        { turn, kind: 'closed', block },
      ];
      if (event.type === 'question.repeated') return [state, said.map((body) => ({ body }))];
      const { question, call, seq, at } = event;
      const asked = { ...state, questions: [...state.questions, question], changed: { seq, at } };
      if (call === undefined) return [asked, said.map((body) => ({ body }))];
      return changed(asked, { ...event, call }, { phase: 'asking' }, said);
    }
    case 'question.answered': {
      const questions = state.questions.filter((question) => question !== event.question);
      const { turn, call } = event;
      if (call === undefined) return [{ ...state, questions }, NONE];
      return changed({ ...state, questions }, { ...event, call }, { phase: 'running' }, [
        { turn, kind: 'replied', call },
      ]);
    }
    case 'input.accepted':
    case 'input.joined':
    case 'files.rewound':
    case 'agent.changed':
    case 'approval.explained':
    case 'call.delegated':
    case 'limit.approached':
    case 'instructions.changed':
    case 'call.progress':
      return [state, NONE];
  }
}

const CANCELLED: FaultData = { code: 'cancelled', message: 'The turn was cancelled.' };

type CallKey = { readonly turn: TurnId; readonly call: CallId };

/** A update about a call whose request has been seen. */
function ofCall<Rest extends object>(state: State, { turn, call }: CallKey, rest: Rest) {
  const known = state.calls.find((open) => open.call === call);
  return known ? [{ ...rest, turn, call, tool: known.tool, input: known.input }] : [];
}

/** `to` is null if the call has ended. */
function changed(
  state: State,
  { call, seq, at }: CallKey & Position,
  to: Pick<OpenCall, 'phase' | 'approval' | 'asks'> | null,
  updates: readonly TurnUpdate[],
): StepResult<State, TurnUpdate> {
  const calls = state.calls.flatMap((open) => {
    if (open.call !== call) return [open];
    return to ? [{ call, tool: open.tool, input: open.input, ...to }] : [];
  });
  return [{ ...state, calls, changed: { seq, at } }, updates.map((body) => ({ body }))];
}

/**
 * Stored events do not tell where an append ended. An append that plans calls plans all that can be planned, so the turn
 * was blocked if it looks so before any other event.
 */
function blockedBefore({ calls, questions, changed: since }: State, event: SessionEvent): TurnUpdate | null {
  if (!since || !(calls.length > 0 ? awaitsAnswer(calls) : questions.length > 0)) return null;
  switch (event.type) {
    case 'approval.answered':
    case 'question.answered':
    case 'turn.resumed':
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
      return { turn: event.turn, kind: 'blocked', since, questions, ...blockers(calls) };
    case 'tool.ended':
      return calls.some(({ call, phase }) => call === event.call && phase !== 'requested')
        ? { turn: event.turn, kind: 'blocked', since, questions, ...blockers(calls) }
        : null;
    default:
      return null;
  }
}

function blockers(open: readonly OpenCall[]): Pick<Blocked, 'deferred' | 'approvals'> {
  const requestedCall = ({ call, tool, input }: OpenCall): RequestedCall => ({ call, tool, input });
  return {
    deferred: open.filter(({ phase }) => phase === 'deferred').map(requestedCall),
    approvals: open.flatMap((one) =>
      one.approval
        ? [{ ...requestedCall(one), ...(one.asks && { input: one.asks }), approval: one.approval }]
        : [],
    ),
  };
}

/** What blocks the turn, without the calls that the request answers: they are open until their results are stored. */
export function unanswered(
  { deferred, approvals, questions, since }: Blocked,
  answered: ReadonlySet<string>,
): Blocked | null {
  const isOpen = ({ call }: { readonly call: string }) => !answered.has(call);
  const left = { deferred: deferred.filter(isOpen), approvals: approvals.filter(isOpen), questions, since };
  return left.deferred.length + left.approvals.length + questions.length > 0 ? left : null;
}
