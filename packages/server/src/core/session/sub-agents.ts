/** Decisions about sub-agents: what a call asks of one, and what the parent records of it. Pure. */
import {
  type ApprovalId,
  type Ask,
  type CallId,
  type ChildRef,
  type Delegation,
  type DurableEventBody,
  Fault,
  pathText,
  type QuestionId,
  type ReportTo,
  type SessionId,
  type Spent,
  type TurnId,
  textPart,
  visibleLine,
} from '@parlance/protocol';
import type { AgentRequest } from '../ports/tool.ts';
import { type DecisionContext, decideInput } from './decide.ts';
import {
  type Child,
  type OpenCall,
  type OpenQuestion,
  pendingId,
  type SessionState,
  type Turn,
  waitingCalls,
} from './session-state.ts';

/** Sub-agents may have sub-agents, which may not. */
const MAX_DEPTH = 2;
const NAME_CHARACTERS = 40;
/** The names from the first session's agent to this session. */
export const pathOf = ({ created, agent }: Pick<SessionState, 'created' | 'agent'>): readonly string[] =>
  created?.parent?.path ?? [visibleLine(agent.name)];

export const mayDelegate = (state: Pick<SessionState, 'created' | 'agent'>): boolean =>
  pathOf(state).length <= MAX_DEPTH;

type DelegationOptions = {
  /** those of calls that start together with this one */
  readonly others: readonly Delegation[];
  readonly newId: () => string;
  /** sub-agents that may work at once */
  readonly most: number;
  readonly isAgent: (id: string) => boolean;
};

/**
 * The sub-agent that works for the call; null if the call only steers or stops one. Throws `tool_failed`, for the model, if that
 * is not possible.
 */
export function delegationOf(
  state: SessionState,
  request: AgentRequest,
  { others, newId, most, isAgent }: DelegationOptions,
): Delegation | null {
  if (!mayDelegate(state)) throw new Fault('tool_failed', 'This agent cannot have sub-agents.');
  const background = 'background' in request && request.background ? { background: true as const } : {};
  if (background.background && state.created?.parent)
    throw new Fault('tool_failed', 'A sub-agent cannot leave work in the background: wait for the answer.');
  const busy = [...(state.children ?? []).filter(isBusy).map(({ session }) => session)];
  const starting = others.filter(({ session }) => !busy.includes(session));
  const checkRoom = () => {
    if (busy.length + starting.length >= most)
      throw new Fault('tool_failed', `${most} sub-agents already work. Wait for one of them.`);
  };
  switch (request.action) {
    case 'spawn': {
      if (!isAgent(request.agent))
        throw new Fault('tool_failed', `There is no agent ${quoted(request.agent)}.`);
      checkRoom();
      const taken = [...(state.children ?? []), ...others].map(({ path }) => path.at(-1));
      const path = [...pathOf(state), freeName(request.name ?? request.agent, taken)];
      const worktree = request.worktree ? { worktree: true as const } : {};
      return { session: newId() as SessionId, path, does: 'spawn', key: newId(), ...background, ...worktree };
    }
    case 'message': {
      const { session, path } = childNamed(state, request.agent);
      if (starting.some((other) => other.session === session))
        throw new Fault(
          'tool_failed',
          `Another call gives ${quoted(request.agent)} a task: wait for its answer.`,
        );
      if (busy.includes(session)) return null;
      checkRoom();
      return { session, path: [...path], does: 'message', key: newId(), ...background };
    }
    case 'wait': {
      const child = childNamed(state, request.agent);
      if (child.state !== 'working')
        throw new Fault('tool_failed', `${quoted(request.agent)} does not work now.`);
      if (attached(state, child.session) || others.some(({ session }) => session === child.session))
        throw new Fault('tool_failed', `Another call already waits for ${quoted(request.agent)}.`);
      return { session: child.session, path: [...child.path], does: 'wait', key: newId() };
    }
    case 'cancel':
      childNamed(state, request.agent);
      return null;
  }
}

const isBusy = ({ state }: Child): boolean => state === 'working' || state === 'stopping';

const quoted = (name: string): string => JSON.stringify(visibleLine(name).slice(0, 100));

/** Throws `tool_failed` if the session has no sub-agent of that name. */
export function childNamed({ children = [] }: SessionState, name: string): Child {
  const found = children.findLast(({ path }) => path.at(-1) === name);
  if (found) return found;
  const names = children.map(({ path }) => path.at(-1)).join(', ');
  throw new Fault(
    'tool_failed',
    `There is no sub-agent ${quoted(name)}. ${names ? `There are: ${names}.` : 'None has been started.'}`,
  );
}

/** A name that the user can tell from the others, in one line. */
function freeName(wanted: string, taken: readonly (string | undefined)[]): string {
  const line = visibleLine(wanted).replaceAll('›', ' ').replaceAll(/\s+/g, ' ').trim();
  const name = line.slice(0, NAME_CHARACTERS).toWellFormed() || 'agent';
  for (let number = 2, free = name; ; free = `${name} ${number++}`) if (!taken.includes(free)) return free;
}

/** The open call that waits for the sub-agent. */
const attached = ({ turn }: SessionState, child: SessionId): OpenCall | undefined =>
  turn?.calls.find((call) => call.child?.session === child && !call.child.background);

/** What a sub-agent has to tell. */
export type Report = {
  readonly child: ChildRef;
  /** the oldest outcome that the parent does not have */
  readonly ended: {
    readonly turn: TurnId;
    readonly reportTo: ReportTo;
    readonly outcome: 'ok' | 'failed' | 'cancelled';
    readonly text: string;
    /** the sub-agent had untrusted content in its context */
    readonly untrusted: boolean;
    readonly spent: Spent;
    readonly durationMs: number;
  } | null;
  readonly pending: Pending | null;
  /** whether the turn that waits works for the parent in the background */
  readonly inBackground: boolean;
  /** what became of what the parent shows; null if it still waits */
  readonly settled: {
    readonly id: string;
    /** null: the turn ended first */
    readonly answered: Answered | null;
  } | null;
};

type Pending = { readonly id: string; readonly from: ChildRef } & (
  | { readonly kind: 'approval'; readonly ask: Ask; readonly hash: string }
  | { readonly kind: 'question'; readonly question: OpenQuestion }
);

type Answered =
  | Pick<DurableEventBody<'approval.answered'>, 'answer' | 'by' | 'dialect' | 'said' | 'reason'>
  | Pick<DurableEventBody<'question.answered'>, 'outcome' | 'answers' | 'by' | 'dialect'>;

/** What waits in the session for an answer, as its parent shows it. */
export function pendingOf(state: SessionState, self: ChildRef): Pending | null {
  const id = pendingId(state);
  const waiting = waitingCalls(state).find(({ approval }) => approval === id);
  if (id !== null && waiting) {
    const { ask, hash, from = self } = waiting;
    return { kind: 'approval', id, ask, hash, from };
  }
  const question = state.turn?.questions.find((open) => open.question === id);
  return id !== null && question ? { kind: 'question', id, question, from: question.child ?? self } : null;
}

/** What the parent records of the report. Nothing that it has recorded before. */
export function decideReport(
  state: SessionState,
  report: Report,
  context: DecisionContext,
): DurableEventBody[] {
  if (!state.created) return [];
  const { child, pending } = report;
  const known = state.children?.find(({ session }) => session === child.session);
  if (!known) return [];
  // Reported again after a crash.
  const told = known.last !== undefined && known.last === report.ended?.turn ? null : report.ended;
  const call = attached(state, child.session);
  const { turn } = state;
  const events: DurableEventBody[] = [];
  const ended = turn && call && told && isFor(told, turn.id, call) ? told : null;
  const shown = turn && call ? shownBy(turn, call) : null;
  const settled = report.settled?.id === shown?.id ? report.settled : null;
  const isOpen = !ended && !settled;
  if (turn && call && shown && !isOpen)
    events.push(mirroredAnswer(turn.id, call.call, { ...shown, answered: settled?.answered ?? null }));
  if (turn && call && ended)
    events.push({
      type: 'tool.ended',
      turn: turn.id,
      call: call.call,
      outcome: ended.outcome === 'ok' ? 'ok' : 'failed',
      parts: [textPart(ended.text)],
      durationMs: ended.durationMs,
      child: { session: child.session, turn: ended.turn, spent: ended.spent },
      ...(ended.untrusted && { untrusted: true }),
    });
  else if (turn && call && pending && !(shown && isOpen))
    events.push(mirroredRequest(turn.id, call, pending));
  if (events.length > 0 || known.state === 'stopping' || known.state === 'stopped') return events;
  if (told?.reportTo.background) return resultAsInput(state, { child, late: told }, context);
  // Also if it was done, and a message that was to join its work has begun a turn of its own.
  if (pending && !call && report.inBackground) return questionAsInput(state, child, context);
  return [];
}

/** A call that was started to wait takes any outcome; the others only that of the turn that they started. */
const isFor = ({ reportTo }: { readonly reportTo: ReportTo }, turn: TurnId, call: OpenCall): boolean =>
  call.child?.does === 'wait' || (reportTo.turn === turn && reportTo.call === call.call);

type ChildRequest = { readonly id: string; readonly kind: Pending['kind']; readonly from: ChildRef };

/** What the call shows of its sub-agent. */
function shownBy(turn: Turn, call: OpenCall): ChildRequest | null {
  if (call.phase === 'waiting' && call.from) return { id: call.approval, kind: 'approval', from: call.from };
  const question = turn.questions.find((open) => open.call === call.call && open.child);
  return question?.child ? { id: question.question, kind: 'question', from: question.child } : null;
}

/** The approval or question of the sub-agent that the session shows. */
export function shownOf(state: SessionState, child: SessionId): string | null {
  const call = attached(state, child);
  return (state.turn && call && shownBy(state.turn, call)?.id) ?? null;
}

function mirroredAnswer(
  turn: TurnId,
  call: CallId,
  { id, kind, from, answered }: ChildRequest & { readonly answered: Answered | null },
): DurableEventBody {
  const nobody = { by: 'server', dialect: 'server' };
  if (kind === 'approval') {
    const answer = answered && 'answer' in answered ? answered : null;
    const stopped = { answer: 'deny', reason: 'The sub-agent stopped.', ...nobody } as const;
    const approval = id as ApprovalId;
    return { type: 'approval.answered', turn, call, approval, ...(answer ?? stopped), child: from };
  }
  const answer = answered && 'outcome' in answered ? answered : null;
  const withdrawn = { outcome: 'withdrawn', ...nobody } as const;
  const question = id as QuestionId;
  return { type: 'question.answered', turn, call, question, ...(answer ?? withdrawn), child: from };
}

function mirroredRequest(turn: TurnId, { call }: OpenCall, pending: Pending): DurableEventBody {
  const { from: child } = pending;
  if (pending.kind === 'question') {
    const { seq: _seq, at: _at, resume: _resume, child: _child, ...question } = pending.question;
    return { ...question, path: [...child.path], type: 'question.asked', turn, call, child };
  }
  const { ask, hash } = pending;
  const description = `${pathText(child.path)}: ${ask.description}`;
  const approval = pending.id as ApprovalId;
  return { type: 'approval.requested', turn, call, approval, ask: { ...ask, description }, hash, child };
}

const nameIn = ({ path }: ChildRef): string => path.at(-1) ?? 'agent';

function resultAsInput(
  state: SessionState,
  { child, late }: { readonly child: ChildRef; readonly late: NonNullable<Report['ended']> },
  context: DecisionContext,
): DurableEventBody[] {
  const before = `The next message is not from the user: it is the result of the sub-agent ${quoted(nameIn(child))}, which worked in the background.`;
  return decideInput(
    state,
    {
      type: 'input.submit',
      // Most protocols show it as a message of the user.
      parts: [textPart(`Result of the sub-agent ${nameIn(child)}:\n\n${late.text}`)],
      mode: 'steer',
      named: true,
      system: { before },
      ...(late.untrusted && { untrusted: true }),
    },
    { ...context, key: `${child.session}:${late.turn}`, child: { ...child, turn: late.turn } },
  );
}

/** A turn that waits for the sub-agent shows what it asks to every client. */
function questionAsInput(state: SessionState, child: ChildRef, context: DecisionContext): DurableEventBody[] {
  const agent = nameIn(child);
  const isQueued = state.queue.some(({ call, child: is }) => is && call?.input.agent === agent);
  if (isQueued) return [];
  return decideInput(
    state,
    {
      type: 'input.submit',
      parts: [textPart(`The sub-agent ${agent} waits for an answer.`)],
      mode: 'queue',
      named: true,
      call: { tool: 'agent', input: { action: 'wait', agent } },
    },
    { ...context, child },
  );
}

/** Whether the call still runs: its sub-agent may have answered, or asked, before the call was recorded as delegated. */
export const stillRuns = ({ turn }: SessionState, event: DurableEventBody): boolean =>
  event.type !== 'call.delegated' || turn?.calls.find(({ call }) => call === event.call)?.phase === 'running';

/** Removes what has not changed since the parent was informed: nothing to record then. */
export function decideInformed(
  state: SessionState,
  turn: TurnId | null,
  waits: string | null,
): DurableEventBody[] {
  const turns = (state.outcomes ?? []).flatMap((open) => (open.turn === turn ? [open.turn] : []));
  if (!state.created?.parent || (turns.length === 0 && (state.told ?? null) === waits)) return [];
  return [{ type: 'parent.informed', turns, waits }];
}
