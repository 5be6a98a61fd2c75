/** Applies events to the state of a session. */
import {
  addSpent,
  type CallId,
  type DurableEvent,
  isActivity,
  NOTHING_SPENT,
  type Part,
  type ReportTo,
  type SessionId,
  summaryChange,
  type TurnId,
  textOf,
  turnOptionsOf,
  type Usage,
} from '@parlance/protocol';
import { afterStep } from './fallback.ts';
import {
  addUsage,
  type Child,
  type OpenCall,
  type QueuedInput,
  type SessionState,
  type Turn,
  waitingCall,
} from './session-state.ts';
import { announcementOf } from './spending.ts';

/** Number of idempotency keys and finished turns to remember. */
const REMEMBERED = 256;
const FIRST_INPUT_LENGTH = 2_000;
const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** The state after the event. */
export function evolve(before: SessionState, event: DurableEvent): SessionState {
  const state: SessionState = {
    ...before,
    ...summaryChange(before, event),
    seq: event.seq,
    updatedAt: isActivity(event) ? event.at : before.updatedAt,
  };
  switch (event.type) {
    case 'session.created': {
      const { dialect, named, domain, at, ephemeral, cwd, parent, worktree } = event;
      const optional = {
        ...(ephemeral && { ephemeral }),
        ...(cwd !== undefined && { cwd }),
        ...(parent && { parent }),
        ...(worktree && { worktree }),
      };
      return { ...state, created: { dialect, named, domain, at, ...optional } };
    }
    case 'history.imported':
      return taken({ ...state, rewound: undefined }, event);
    case 'session.cleared':
      // Queued inputs were accepted before this event, and readers of the context need them.
      return {
        ...state,
        readFrom: state.queue.length === 0 ? event.seq : state.readFrom,
        cutAt: event.seq,
        rewound: undefined,
      };
    case 'input.accepted': {
      const { input, via, call, key, agent, turn, joins, apiKey, reportTo, child } = event;
      const queued = {
        input,
        via,
        call,
        agent,
        ...(turn && { turn }),
        ...(apiKey !== undefined && { apiKey }),
        terms: turnOptionsOf(event),
        ...(reportTo && { reportTo }),
        ...(child && { child: true as const }),
      };
      return {
        ...(child ? withChild(state, child.session, workOf(child)) : state),
        rewound: undefined,
        firstInput: state.firstInput || beginning(event.parts),
        queue: joins ? withJoining(state.queue, { ...queued, joins }) : state.queue.concat(queued),
        keys: withKey(state.keys, key, event.seq),
      };
    }
    case 'input.cancelled': {
      const cancelled = state.queue.find(({ input }) => input === event.input);
      const queue = state.queue.filter((queued) => queued !== cancelled);
      return withOutcome({ ...state, queue }, event.turn, cancelled?.reportTo);
    }
    case 'input.joined':
      return { ...state, queue: state.queue.filter(({ input }) => input !== event.input) };
    case 'turn.started': {
      const input = state.queue.find((queued) => queued.input === event.input);
      const turn: Turn = {
        id: event.turn,
        agent: event.agent,
        via: input?.via,
        startedAt: event.at,
        began: event.seq,
        usage: NO_USAGE,
        spent: NOTHING_SPENT,
        ...(input?.apiKey !== undefined && { apiKey: input.apiKey }),
        steps: 0,
        gaveUp: false,
        terms: input?.terms ?? {},
        calls: [],
        questions: [],
        settled: [],
        // After a call on behalf of a sub-agent, the model reads the outcome.
        answered: input?.call !== undefined && !input.child,
        ...(input?.reportTo && { reportTo: input.reportTo }),
      };
      return { ...state, turn, failed: false, queue: state.queue.filter((queued) => queued !== input) };
    }
    case 'turn.ended':
      return finish(state, event.turn, !state.turn?.gaveUp);
    case 'turn.cancelled':
      return stopping(
        finish(state, event.turn, false),
        (child) => child.turn === event.turn && child.state === 'working',
      );
    case 'turn.failed':
      return { ...finish(state, event.turn, false), failed: true };
    case 'agent.changed':
      return inTurn(state, (turn) => ({ ...turn, agent: event.to }));
    case 'step.ended': {
      const stepped = inTurn(state, (turn) => ({
        ...turn,
        steps: turn.steps + 1,
        usage: addUsage(turn.usage, event.usage),
        spent: addSpent(turn.spent, event),
        answered: turn.calls.length === 0,
        fallback: afterStep(turn.fallback, event.model),
      }));
      return { ...stepped, spent: addSpent(state.spent, event) };
    }
    case 'usage.recorded': {
      const counted = inTurn(state, (turn) =>
        turn.id === event.during ? { ...turn, spent: addSpent(turn.spent, event) } : turn,
      );
      return { ...counted, spent: addSpent(state.spent, event) };
    }
    case 'limit.approached':
      return {
        ...state,
        announced: [...state.announced, announcementOf(event.limit, event)].slice(-REMEMBERED),
      };
    case 'call.requested': {
      const { call, tool, input, malformed } = event;
      return inTurn(state, (turn) => ({
        ...turn,
        calls: [...turn.calls, { call, tool, input, malformed, phase: 'requested' }],
      }));
    }
    case 'approval.requested': {
      const { approval, ask, hash } = event;
      return withCall(state, event.call, (call) => ({
        ...base(call),
        ...(event.child && { from: event.child }),
        phase: 'waiting',
        approval,
        ask,
        hash,
        requestedAt: event.at,
        seq: event.seq,
      }));
    }
    case 'approval.answered': {
      const granted = event.grant
        ? { ...state, grants: [...new Set([...state.grants, event.grant])] }
        : state;
      const allowed = withCall(inTurn(granted, withTerms(event)), event.call, (call) => ({
        ...base(call),
        phase: event.child ? 'delegated' : 'allowed',
      }));
      const next = waitingCall(allowed);
      if (!next || next.approval === waitingCall(state)?.approval) return allowed;
      return withCall(allowed, next.call, () => ({ ...next, requestedAt: event.at }));
    }
    case 'question.asked': {
      const { type: _type, session: _session, id: _id, ...question } = event;
      return withCall(
        inTurn(state, (turn) => ({ ...turn, questions: [...turn.questions, question] })),
        event.call,
        // A running call goes on, and waits by itself.
        (call) =>
          call.phase === 'running' && event.resume === undefined && !event.child
            ? call
            : { ...base(call), phase: 'asking' },
      );
    }
    case 'question.answered':
      return questionAnswered(state, event);
    case 'grant.revoked':
      return { ...state, grants: state.grants.filter((grant) => grant !== event.grant) };
    case 'tool.started': {
      const { child } = event;
      const started = withCall(state, event.call, (call) => ({
        ...base(call),
        ...(child && { child }),
        phase: 'running',
        definition: event.definition,
      }));
      if (!child || child.does === 'wait') return started;
      const { session, path, background = false } = child;
      const earlier = state.children?.find((other) => other.session === session);
      const others = (state.children ?? []).filter((other) => other !== earlier);
      const working = { ...earlier, session, path, turn: event.turn, state: 'working', background } as const;
      return { ...started, children: remembered([...others, working]) };
    }
    case 'call.delegated':
      return withCall(state, event.call, (call) => ({ ...base(call), phase: 'delegated' }));
    case 'call.deferred':
      return withCall(state, event.call, (call) => ({ ...base(call), phase: 'deferred' }));
    case 'tool.ended':
      return inTurn(inTurn(afterCall(state, event), withTerms(event)), (turn) => ({
        ...turn,
        answered: turn.answered || event.final === true,
        gaveUp: event.final ? event.outcome !== 'ok' : turn.gaveUp,
        calls: turn.calls.filter((call) => call.call !== event.call),
        questions: turn.questions.filter(({ call }) => call !== event.call),
      }));
    case 'child.stopped':
      return withChild(state, event.child, { state: 'stopped' });
    case 'parent.informed': {
      const outcomes = (state.outcomes ?? []).filter(({ turn }) => !event.turns.includes(turn));
      return { ...state, outcomes, told: event.waits };
    }
    case 'context.compacted':
      return { ...state, readFrom: event.readFrom, cutAt: event.seq, rewound: undefined };
    case 'instructions.changed':
      return { ...state, instructions: event.files };
    case 'session.configured':
      return {
        ...state,
        model: event.model === undefined ? state.model : event.model,
        approvalMode: event.approval === undefined ? state.approvalMode : event.approval,
        limit: event.limit === undefined ? state.limit : event.limit,
      };
    case 'session.renamed':
      return { ...state, renamed: event.automatic !== true };
    case 'session.labelled':
      return { ...state, labels: { ...state.labels, ...event.labels } };
    case 'step.restarted': {
      const { fallback } = event;
      return fallback ? inTurn(state, (turn) => ({ ...turn, fallback })) : state;
    }
    case 'session.rewound': {
      const { rewind, from } = event;
      return { ...state, rewound: rewind === undefined ? undefined : { rewind, from } };
    }
    case 'session.restored':
      return { ...state, rewound: undefined };
    case 'rewind.started': {
      const { rewind, from, undoes, overwrite, by } = event;
      return { ...state, rewinding: { rewind, from, undoes, overwrite, by } };
    }
    case 'files.rewound':
      return { ...state, rewinding: undefined };
    case 'history.removed':
      return { ...state, rewound: undefined };
    case 'turn.resumed':
    case 'reasoning.ended':
    case 'approval.explained':
    case 'question.repeated':
    case 'text.ended':
    // The rest of these is in the summary.
    case 'session.archived':
    case 'session.unarchived':
    case 'session.pinned':
    case 'session.tagged':
      return state;
  }
}

function taken(state: SessionState, { items, seq }: DurableEvent<'history.imported'>): SessionState {
  const [first] = items;
  if (first?.type !== 'user') return state;
  const { parts, key } = first;
  return {
    ...state,
    firstInput: state.firstInput || beginning(parts),
    keys: withKey(state.keys, key, seq),
  };
}

function questionAnswered(state: SessionState, event: DurableEvent<'question.answered'>): SessionState {
  const asked = state.turn?.questions.find(({ question }) => question === event.question);
  if (!asked) return state;
  const { question, purpose, data, call, resume } = asked;
  const { outcome, answers, by } = event;
  const changed = inTurn(inTurn(state, withTerms(event)), (turn) => ({
    ...turn,
    questions: turn.questions.filter((open) => open !== asked),
    settled:
      call === undefined
        ? [
            ...turn.settled,
            { question, purpose, outcome, by, ...(data && { data }), ...(answers && { answers }) },
          ]
        : turn.settled,
  }));
  if (event.child) return withCall(changed, call, (open) => ({ ...base(open), phase: 'delegated' }));
  if (resume === undefined) return changed;
  return withCall(changed, call, (open) => ({
    ...base(open),
    phase: 'allowed',
    answer: { resume, answers: answers ?? null },
  }));
}

/** If the turn ends before it has joined, it is the next input: before those that were queued. */
function withJoining(queue: SessionState['queue'], input: QueuedInput): SessionState['queue'] {
  const at = queue.findLastIndex(({ joins }) => joins !== undefined) + 1;
  return queue.toSpliced(at, 0, input);
}

const withKey = (keys: SessionState['keys'], key: string | undefined, seq: number): SessionState['keys'] =>
  key === undefined ? keys : [...keys, { key, seq }].slice(-REMEMBERED);

const beginning = (parts: readonly Part[]): string =>
  firstLine(parts).slice(0, FIRST_INPUT_LENGTH).toWellFormed();

const finish = (state: SessionState, turn: TurnId, ok: boolean): SessionState =>
  withOutcome(
    { ...state, turn: null, finished: [...state.finished, { turn, ok }].slice(-REMEMBERED) },
    turn,
    state.turn?.reportTo,
  );

const base = ({ call, tool, input, child }: OpenCall) => ({ call, tool, input, ...(child && { child }) });

// Sub-agents.

/** Those that are done and whose names a session remembers. */
const REMEMBERED_CHILDREN = 64;

const withOutcome = (state: SessionState, turn: TurnId, reportTo: ReportTo | undefined): SessionState =>
  reportTo ? { ...state, outcomes: [...(state.outcomes ?? []), { turn, reportTo }] } : state;

function remembered(children: readonly Child[]): readonly Child[] {
  const done = children.filter(({ state }) => state === 'done' || state === 'stopped');
  const forgotten = new Set(done.slice(0, Math.max(0, done.length - REMEMBERED_CHILDREN)));
  return children.filter((child) => !forgotten.has(child));
}

/** A sub-agent that works in the background has ended, or asks something. */
const workOf = ({ turn: last }: { readonly turn?: TurnId | undefined }): Partial<Child> =>
  last ? { state: 'done', last } : { state: 'working' };

const withChild = (state: SessionState, id: SessionId, change: Partial<Child>): SessionState => ({
  ...state,
  children: (state.children ?? []).map((child) => (child.session === id ? { ...child, ...change } : child)),
});

const stopping = (state: SessionState, which: (child: Child) => boolean): SessionState =>
  state.children
    ? {
        ...state,
        children: state.children.map((child) => (which(child) ? { ...child, state: 'stopping' } : child)),
      }
    : state;

/** A call that ends without the answer of its sub-agent leaves nobody to work for. */
function afterCall(state: SessionState, event: DurableEvent<'tool.ended'>): SessionState {
  if (event.child) return withChild(state, event.child.session, { state: 'done', last: event.child.turn });
  if (event.stops) return stopping(state, ({ session }) => session === event.stops);
  const child = state.turn?.calls.find(({ call }) => call === event.call)?.child;
  if (!child || (child.background && event.outcome === 'ok')) return state;
  // What it asks would be shown nowhere any more if the turn that shows it is cancelled.
  if (child.does === 'wait' && event.outcome !== 'aborted') return state;
  return stopping(state, ({ session }) => session === child.session);
}

const inTurn = (state: SessionState, change: (turn: Turn) => Turn): SessionState =>
  state.turn ? { ...state, turn: change(state.turn) } : state;

const withTerms =
  ({ terms }: { readonly terms?: Turn['terms'] | undefined }) =>
  (turn: Turn): Turn =>
    terms ? { ...turn, terms } : turn;

const withCall = (
  state: SessionState,
  id: CallId | undefined,
  change: (call: OpenCall) => OpenCall,
): SessionState =>
  inTurn(state, (turn) => ({
    ...turn,
    calls: turn.calls.map((call) => (call.call === id ? change(call) : call)),
  }));

/** Parts after the first are attachments. */
const firstLine = (parts: readonly Part[]): string => textOf(parts.slice(0, 1));
