/**
 * The view of a session that a chat shows, folded from its events. `fold` is pure and idempotent: events already seen
 * are skipped, and unknown events of a newer server only advance `seq`. Once a turn is over, durable events alone fold to
 * the same view as durable and ephemeral events together.
 */
import type { DurableEvent, DurableEventType, EphemeralEvent, Json, Usage } from '@parlance/protocol';
import { addSpent } from '@parlance/protocol/spending';
import { titleOf } from '@parlance/protocol/title';
import type { SessionStreamEvent, Snapshot } from './cursor.ts';
import {
  type CallView,
  EMPTY,
  type Entry,
  type InputView,
  type Item,
  newTurn,
  type PlanStep,
  type PlanView,
  type QuestionView,
  type RewoundView,
  type SessionView,
  type TurnState,
  type TurnView,
} from './view/shapes.ts';
import * as calls from './view/turn.ts';
import * as turns from './view/turn.ts';

export * from './view/shapes.ts';
export { type SubAgentView, subAgentsOf } from './view/sub-agents.ts';
export { currentTurn } from './view/turn.ts';

export function fold(view: SessionView, event: SessionStreamEvent): SessionView {
  if (event.type === 'reset') return EMPTY;
  if (event.type === 'snapshot') return withSnapshot(view, event);
  if (!('seq' in event)) return withEphemeral(view, event);
  if (event.seq <= view.seq) return view;
  const next = withEvent({ ...view, seq: event.seq, session: event.session }, event);
  const status = statusOf(next, event);
  return status === next.status ? next : { ...next, status };
}

export const foldAll = (view: SessionView, events: Iterable<SessionStreamEvent>): SessionView => {
  let folded = view;
  for (const event of events) folded = fold(folded, event);
  return folded;
};

/** Discards blocks and calls that did not end and are no longer streamed by the server. */
function withSnapshot(view: SessionView, { open, arguments: calls = [] }: Snapshot): SessionView {
  const current = turns.currentTurn(view);
  if (!current) return view;
  const writing = calls.map(({ call, tool, text }) => ({ call, tool, text }));
  return turns.inTurn(view, current.turn, (turn) =>
    turns.withWriting(
      open?.turn === turn.turn ? turns.withOpenBlock(turn, open, turn.at) : turns.withoutOpenBlock(turn),
      writing,
    ),
  );
}

function withEphemeral(view: SessionView, live: EphemeralEvent): SessionView {
  switch (live.type) {
    case 'text.delta':
    case 'reasoning.delta':
      return turns.inTurn(view, live.turn, (turn) => turns.withDelta(turn, live));
    case 'call.arguments.delta':
      return turns.inTurn(view, live.turn, (turn) => turns.withArguments(turn, live));
    case 'session.erased':
      return { ...EMPTY, session: live.session, erasedBy: live.by };
    case 'call.progress': {
      const current = turns.currentTurn(view);
      if (!current) return view;
      return turns.inTurn(view, current.turn, (turn) =>
        calls.inCall(turn, live.call, (call) => calls.progressed(call, live)),
      );
    }
  }
  live satisfies never;
  return view;
}

function rewoundEntry(
  {
    rewind,
    undoes = null,
    by,
    at,
    seq,
  }: Pick<DurableEvent, 'at' | 'seq'> & { rewind: string; undoes?: string | undefined | null; by: string },
  conversation: boolean,
): RewoundView {
  return {
    kind: 'rewound',
    rewind,
    undoes,
    conversation,
    files: null,
    isRestoring: false,
    isUndone: false,
    by,
    at,
    seqs: [seq],
  };
}

const markedUndone = (entries: readonly Entry[], rewind: string): readonly Entry[] =>
  entries.map((entry) =>
    entry.kind === 'rewound' && entry.rewind === rewind ? { ...entry, isUndone: true } : entry,
  );

function withEvent(view: SessionView, event: DurableEvent): SessionView {
  switch (event.type) {
    case 'session.created': {
      const { dialect, domain, named, agent, at, cwd, ephemeral, parent } = event;
      const created = {
        ...{ dialect, domain, named, at },
        ...(cwd !== undefined && { cwd }),
        ...(ephemeral && { ephemeral }),
        ...(parent && { parent: { session: parent.session, path: parent.path } }),
      };
      return { ...view, created, agent, erasedBy: null };
    }
    case 'history.imported': {
      const { input = null, items, dialect, at, seq } = event;
      const [first] = items;
      return {
        ...view,
        title: view.title || (first?.type === 'user' ? titleOf(first.parts) : ''),
        entries: [...view.entries, { kind: 'history', input, items, dialect, at, seqs: [seq] }],
      };
    }
    case 'session.cleared': {
      const cleared = { kind: 'cleared', by: event.by, at: event.at, seqs: [event.seq] } as const;
      return { ...view, context: null, plan: null, entries: [...view.entries, cleared] };
    }
    case 'session.rewound': {
      const from = view.entries.findIndex(
        (entry) =>
          (entry.kind === 'turn' && entry.input?.input === event.input) ||
          (entry.kind === 'history' && entry.input === event.input),
      );
      if (from < 0) return view;
      const replacing = [...(view.versions[event.input] ?? []), view.entries.slice(from)];
      const kept = view.entries.slice(0, from);
      const { rewind } = event;
      const entries = rewind === undefined ? kept : [...kept, rewoundEntry({ ...event, rewind }, true)];
      return { ...view, entries, replacing };
    }
    case 'session.restored': {
      const at = view.entries.findIndex((entry) => entry.kind === 'rewound' && entry.rewind === event.rewind);
      const version = view.replacing?.at(-1);
      if (at < 0 || !version) return view;
      const entries = [...view.entries.slice(0, at), ...version, ...view.entries.slice(at)];
      const undo = rewoundEntry({ ...event, undoes: event.rewind, rewind: '' }, true);
      return { ...view, entries: [...markedUndone(entries, event.rewind), undo], replacing: null };
    }
    case 'rewind.started': {
      const { rewind, undoes } = event;
      const entries = undoes === undefined ? view.entries : markedUndone(view.entries, undoes);
      const last = entries.at(-1);
      // One command has rewound the conversation as well.
      const isSame = last?.kind === 'rewound' && last.seqs.at(-1) === event.seq - 1;
      const started = isSame
        ? { ...last, rewind, isRestoring: true, seqs: [...last.seqs, event.seq] }
        : { ...rewoundEntry(event, false), isRestoring: true };
      return { ...view, entries: [...(isSame ? entries.slice(0, -1) : entries), started] };
    }
    case 'files.rewound': {
      const { rewind, restored, kept, more, failed, seq } = event;
      const files = { restored, kept, more, failed };
      const entries = view.entries.map((entry) =>
        entry.kind === 'rewound' && entry.rewind === rewind
          ? { ...entry, files, isRestoring: false, seqs: [...entry.seqs, seq] }
          : entry,
      );
      return { ...view, entries };
    }
    case 'session.configured':
      return {
        ...view,
        model: event.model === undefined ? view.model : event.model,
        approvalMode: event.approval === undefined ? view.approvalMode : event.approval,
        agent: event.agent ?? view.agent,
        limit: event.limit === undefined ? view.limit : event.limit,
      };
    case 'usage.recorded': {
      const counted = { ...view, spent: addSpent(view.spent, event) };
      const during = turns.currentTurn(view)?.turn;
      const seen = (turn: TurnView) => ({ ...turn, seqs: [...turn.seqs, event.seq] });
      return during ? turns.inTurn(counted, during, seen) : counted;
    }
    case 'limit.approached': {
      const { limit, at, seq } = event;
      return inTurn(view, event, (turn) => turns.withItem(turn, { kind: 'limit', limit, at, seqs: [seq] }));
    }
    case 'session.renamed':
      return { ...view, title: event.title };
    case 'session.archived':
      return { ...view, archived: true };
    case 'session.unarchived':
      return { ...view, archived: false };
    case 'session.pinned':
      return { ...view, pinned: event.pinned };
    case 'session.tagged':
      return { ...view, tags: event.tags };
    case 'session.labelled':
      return { ...view, labels: { ...view.labels, ...event.labels } };
    case 'input.accepted':
      return {
        ...view,
        archived: false,
        ...(view.replacing && {
          versions: { ...view.versions, [event.input]: view.replacing },
          replacing: null,
        }),
        title: view.title || titleOf(event.parts),
        queued: withQueued(view, inputOf(view, event)),
      };
    case 'input.cancelled':
      return { ...view, queued: view.queued.filter(({ input }) => input !== event.input) };
    case 'input.joined': {
      const input = view.queued.find(({ input }) => input === event.input);
      const queued = view.queued.filter((waiting) => waiting !== input);
      if (!input) return view;
      const item = { ...input, kind: 'input', seqs: [...input.seqs, event.seq] } as const;
      return inTurn({ ...view, queued }, event, (turn) => turns.withItem(turn, item));
    }
    case 'turn.started': {
      const input = view.queued.find(({ input }) => input === event.input) ?? null;
      const queued = view.queued.filter((waiting) => waiting !== input);
      return { ...view, queued, entries: [...view.entries, newTurn(event, input, view.model)] };
    }
    case 'turn.resumed':
      return inTurn(view, event, (turn) => ({
        ...turns.withItem(turns.withoutStep(turn), { kind: 'resumed', at: event.at, seqs: [event.seq] }),
        seqs: [...turn.seqs, event.seq],
      }));
    case 'turn.ended': {
      const { durationMs, context, usage, paused } = event;
      const state = { status: 'ended', durationMs, context, ...(paused && { paused }) } as const;
      const ended = withTurnState(view, event, state);
      return { ...inTurn(ended, event, (turn) => ({ ...turn, usage })), context };
    }
    case 'turn.failed':
      return withTurnState(view, event, {
        status: 'failed',
        durationMs: event.durationMs,
        fault: event.fault,
      });
    case 'turn.cancelled':
      return withTurnState(view, event, { status: 'cancelled', reason: event.reason });
    case 'agent.changed': {
      const { from, to, reason, at, seq } = event;
      return inTurn({ ...view, agent: to }, event, (turn) => ({
        ...turns.withItem(turn, { kind: 'handoff', from, to, reason, at, seqs: [seq] }),
        agent: to,
      }));
    }
    case 'reasoning.ended':
    case 'text.ended':
      return inTurn(view, event, (turn) => turns.withEndedBlock(turn, event));
    case 'step.restarted': {
      const { attempt, delayMs, fault, fallback, shown, at, seq } = event;
      return inTurn(view, event, (turn) => {
        const before = turns.withoutStep(turn);
        const last = before.items.at(-1);
        const items = last?.kind === 'restart' ? before.items.slice(0, -1) : before.items;
        // A new item if output was shown since: a terminal has printed the line above it.
        const seqs = last?.kind === 'restart' && !shown ? [...last.seqs, seq] : [seq];
        const restart = { kind: 'restart', attempt, delayMs, fault, at, seqs } as const;
        if (!fallback) return turns.withItem({ ...before, items }, restart);
        return turns.withItem({ ...before, items, fallback: fallback.model }, { ...restart, fallback });
      });
    }
    case 'step.ended': {
      const spent = addSpent(view.spent, event);
      return inTurn({ ...view, usage: sum(view.usage, event.usage), spent }, event, (turn) => ({
        ...turns.withWriting(turn, []),
        ...(turn.fallback !== undefined && turn.fallback !== event.model && { fallback: undefined }),
        steps: turn.steps + 1,
        usage: sum(turn.usage, event.usage),
        seqs: [...turn.seqs, event.seq],
      }));
    }
    case 'call.requested':
      return inTurn(view, event, (turn) => turns.withItem(turn, calls.requestedCall(event)));
    case 'approval.requested':
      return withPending(inCall(view, event, (call) => calls.approvalRequested(call, event)));
    case 'approval.explained':
      return withPending(inTurn(view, event, (turn) => calls.explained(turn, event)));
    case 'approval.answered': {
      const grants = event.grant ? [...new Set([...view.grants, event.grant])] : view.grants;
      return withPending(inCall({ ...view, grants }, event, (call) => calls.answered(call, event)));
    }
    case 'question.asked':
      return inTurn(view, event, (turn) => turns.withItem(turn, questionOf(event)));
    case 'question.repeated':
    case 'question.answered':
      return inTurn(view, event, (turn) => turns.withQuestion(turn, event));
    case 'tool.started':
      return inCall(view, event, (call) => calls.started(call, event));
    case 'call.deferred':
      return inCall(view, event, (call) => calls.deferred(call, event));
    case 'call.delegated':
      return inCall(view, event, (call) => calls.delegated(call, event));
    case 'tool.ended': {
      const turn = view.entries.findLast((entry) => entry.kind === 'turn' && entry.turn === event.turn);
      const plan = turn?.kind === 'turn' ? planOf(calls.callOf(turn, event.call), event) : null;
      const ended = inTurn(
        inCall(plan ? { ...view, plan } : view, event, (call) => calls.ended(call, event)),
        event,
        (turn) => turns.withLapsed(turn, event.call),
      );
      return view.pending === null ? ended : withPending(ended);
    }
    case 'child.stopped':
    case 'parent.informed':
      return view;
    case 'grant.revoked':
      return { ...view, grants: view.grants.filter((grant) => grant !== event.grant) };
    // What was said stays visible.
    case 'history.removed':
      return view;
    case 'instructions.changed': {
      const { files, at, seq } = event;
      const item = { kind: 'instructions', files, at, seqs: [seq] } as const;
      const current = turns.currentTurn(view);
      const after = { ...view, instructions: files };
      return current ? turns.inTurn(after, current.turn, (turn) => turns.withItem(turn, item)) : after;
    }
    case 'context.compacted': {
      const { summary, oldTokens, newTokens, at, seq } = event;
      const compaction = { kind: 'compaction', summary, oldTokens, newTokens, at, seqs: [seq] } as const;
      const context = view.context && { ...view.context, tokens: newTokens };
      const current = turns.currentTurn(view);
      if (!current) return { ...view, context, entries: [...view.entries, compaction] };
      return turns.inTurn({ ...view, context }, current.turn, (turn) => turns.withItem(turn, compaction));
    }
  }
  event satisfies never;
  return view;
}

type TurnEventType = {
  [T in DurableEventType]: DurableEvent<T> extends { turn: unknown } ? T : never;
}[DurableEventType];
type CallEventType = {
  [T in TurnEventType]: DurableEvent<T> extends { call: unknown } ? T : never;
}[TurnEventType];

const inTurn = (
  view: SessionView,
  event: DurableEvent<TurnEventType>,
  change: (turn: TurnView) => TurnView,
): SessionView => turns.inTurn(view, event.turn, change);

const inCall = (
  view: SessionView,
  event: DurableEvent<CallEventType>,
  change: Parameters<typeof calls.inCall>[2],
): SessionView => inTurn(view, event, (turn) => calls.inCall(turn, event.call, change));

const withTurnState = (
  view: SessionView,
  event: DurableEvent<'turn.ended' | 'turn.failed' | 'turn.cancelled'>,
  state: TurnState,
): SessionView =>
  inTurn(view, event, (turn) => ({
    ...turns.withLapsed(turns.withWriting(turns.withoutOpenBlock(turn), [])),
    state,
    seqs: [...turn.seqs, event.seq],
  }));

/** `pending` is the same object as in its call. */
function withPending(view: SessionView): SessionView {
  const waiting = turns
    .currentTurn(view)
    ?.items.find((item) => item.kind === 'call' && item.approval?.state.status === 'pending');
  const pending = waiting?.kind === 'call' ? waiting.approval : null;
  return pending === view.pending ? view : { ...view, pending };
}

function statusOf(view: SessionView, event: DurableEvent): SessionView['status'] {
  const turn = view.entries.findLast((entry) => entry.kind === 'turn');
  if (turn?.state.status === 'running') {
    const wasWaiting = view.status === 'waiting';
    const mayWait = wasWaiting || STARTS_WAITING.has(event.type);
    return mayWait && turn.items.some(waitsForSomeone) ? 'waiting' : 'running';
  }
  if (view.queued.length > 0) return 'running';
  return turn?.state.status === 'failed' ? 'failed' : 'idle';
}

const STARTS_WAITING: ReadonlySet<string> = new Set([
  'approval.requested',
  'question.asked',
  'call.deferred',
] satisfies DurableEventType[]);

const waitsForSomeone = (item: Item): boolean =>
  item.kind === 'call'
    ? item.state.phase === 'waiting' || item.state.phase === 'deferred'
    : item.kind === 'question' && item.state.status === 'pending';

const questionOf = (event: DurableEvent<'question.asked'>): QuestionView => {
  const { turn, question, call, purpose, title, questions, requires, path, at, seq } = event;
  return {
    kind: 'question',
    turn,
    question,
    ...(call === undefined ? {} : { call }),
    purpose,
    ...(title === undefined ? {} : { title }),
    questions,
    ...(requires === undefined ? {} : { requires }),
    ...(path === undefined ? {} : { path }),
    problem: null,
    state: { status: 'pending' },
    at,
    seqs: [seq],
  };
};

const sum = (a: Usage, b: Usage): Usage => {
  const cachedTokens = (a.cachedTokens ?? 0) + (b.cachedTokens ?? 0);
  const reasoningTokens = (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cachedTokens > 0 ? { cachedTokens } : {}),
    ...(reasoningTokens > 0 ? { reasoningTokens } : {}),
  };
};

// An input as the view shows it.

/** An interrupting input is stored directly after the end of the turn that it interrupted. */
function supersededBy(view: SessionView, event: DurableEvent<'input.accepted'>): TurnView['turn'] | null {
  const last = view.entries.at(-1);
  if (last?.kind !== 'turn' || last.state.status !== 'cancelled') return null;
  return last.state.reason === 'superseded' && last.seqs.at(-1) === event.seq - 1 ? last.turn : null;
}

/** Inputs that join the turn come before those that wait for its end. */
function withQueued({ queued }: SessionView, input: InputView): InputView[] {
  const at = input.joins ? queued.findLastIndex(({ joins }) => joins) + 1 : queued.length;
  return queued.toSpliced(at, 0, input);
}

function inputOf(view: SessionView, event: DurableEvent<'input.accepted'>): InputView {
  const { input, parts, dialect, key, call, data, agent, turn, joins, answers, child, at, seq } = event;
  return {
    input,
    parts,
    dialect,
    ...(key === undefined ? {} : { key }),
    ...(call === undefined ? {} : { call }),
    ...(data === undefined ? {} : { data }),
    ...(agent === undefined ? {} : { agent }),
    ...(turn === undefined ? {} : { turn }),
    ...(joins === undefined ? {} : { joins }),
    ...(answers === undefined ? {} : { answers }),
    ...(child && { child }),
    superseded: supersededBy(view, event),
    at,
    seqs: [seq],
  };
}

// The agent's plan: the input of its last successful `update_plan`.

const STATUSES: readonly string[] = ['pending', 'in_progress', 'completed'] satisfies PlanStep['status'][];

/** Null if the call was not a plan update. */
function planOf(call: CallView | null, event: DurableEvent<'tool.ended'>): PlanView | null {
  if (call?.tool !== 'update_plan' || event.outcome !== 'ok') return null;
  const { steps, explanation } = call.input;
  if (!Array.isArray(steps) || !steps.every(isStep)) return null;
  return {
    steps,
    ...(typeof explanation === 'string' ? { explanation } : {}),
    at: event.at,
    seqs: [...call.seqs, event.seq],
  };
}

/** The built-in tool validates its input, but an MCP tool may have the same name. */
const isStep = (value: Json): value is PlanStep =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  typeof value.step === 'string' &&
  STATUSES.includes(String(value.status));

/** The question that has waited longest for an answer; null if there is none. */
export const pendingQuestion = (view: SessionView): QuestionView | null =>
  turns
    .currentTurn(view)
    ?.items.find(
      (item): item is QuestionView => item.kind === 'question' && item.state.status === 'pending',
    ) ?? null;
