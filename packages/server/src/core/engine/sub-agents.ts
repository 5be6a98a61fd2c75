/**
 * Sub-agents: sessions that a call of another session started. `tool.started` names the session before it exists, and creating
 * it is idempotent, so that a crash neither loses nor doubles one. What a sub-agent waits for and what it answers goes up to
 * its parent with `decideReport`, which ignores what the parent knows already, and is repeated until `parent.informed` is stored.
 */
import {
  type ApprovalId,
  addSpent,
  type Command,
  type Delegation,
  type DurableEvent,
  type DurableEventBody,
  Fault,
  type InputId,
  type Json,
  NOTHING_SPENT,
  type ParentRef,
  type QuestionId,
  type SessionId,
  type TurnId,
  textPart,
  visibleLine,
} from '@parlance/protocol';
import type { SessionLog, SessionRef } from '../ports/event-store.ts';
import { type Agent, ROLES } from '../session/agent-catalog.ts';
import { isTainted } from '../session/context.ts';
import { type DecisionContext, decide, decideRename } from '../session/decide.ts';
import type { OpenCall, SessionState } from '../session/session-state.ts';
import { openQuestion, pendingId, waitingCall } from '../session/session-state.ts';
import {
  childNamed,
  decideInformed,
  decideReport,
  delegationOf,
  mayDelegate,
  pendingOf,
  type Report,
  shownOf,
} from '../session/sub-agents.ts';
import { modeOf } from './call-plan.ts';
import type { Caller } from './decision-context.ts';
import { eventsBackwards } from './event-pages.ts';
import { offeredTo } from './model-step.ts';
import type { RunQueue } from './run-queue.ts';
import type { Session } from './session.ts';
import type { SessionCache } from './session-cache.ts';
import type { ActiveTurn, SubAgents, TurnDeps } from './turn-deps.ts';
import { makeWorktree } from './worktree.ts';

/** Characters of an answer that the parent's model reads. */
const ANSWER_CHARACTERS = 50_000;
const PROGRESS_CHARACTERS = 120;

/** The parts of the engine, which are complete when the first call is made. */
type Internals = {
  readonly deps: TurnDeps;
  readonly parts: { readonly store: SessionLog };
  readonly sessions: SessionCache;
  readonly queue: RunQueue;
  readonly admission: {
    admit(session: Session, command: Command): Promise<() => void>;
  };
};

type Send = (ref: SessionRef, command: Command, caller: Caller) => Promise<unknown>;

export function subAgents(
  internals: () => Internals,
  { most, send }: { readonly most: number; readonly send: Send },
): SubAgents {
  const isAgent = (id: string): boolean => {
    const { catalog } = internals().deps;
    return [...ROLES, ...catalog.listed.agents].some((agent) => agent.id === id);
  };

  /** Records events that other sessions cause, and continues the session with them. */
  const change = (
    ref: SessionRef,
    decideOn: (session: Session) => Promise<(state: SessionState) => readonly DurableEventBody[]>,
  ): Promise<void> => {
    const { sessions, queue } = internals();
    return sessions.use(ref, async (session) => {
      // Nothing to record on an old state would count as recorded.
      await session.fresh();
      await session.transact(await decideOn(session), queue.hasRoom(session) ? 'if-free' : 'never');
      if (!session.role.isRemote) queue.wake(session);
    });
  };

  const contextOf = (
    { dialect, domain, agent, via }: Pick<DecisionContext, 'dialect' | 'domain' | 'agent' | 'via'>,
    more: Partial<DecisionContext> = {},
  ): DecisionContext => {
    const { newId } = internals().deps;
    return {
      by: 'server',
      dialect,
      via,
      key: undefined,
      apiKey: undefined,
      domain,
      agent,
      answeredBy: undefined,
      open: null,
      replaced: null,
      rewind: null,
      isKnown: false,
      mayApprove: false,
      maxQueued: Number.POSITIVE_INFINITY,
      ids: { input: newId() as InputId, turn: newId() as TurnId },
      historyInputs: [],
      ...more,
    };
  };

  /**
   * A session that was imported from a file can name any session as its sub-agent, which itself knows whose it is.
   */
  const isChildOf = ({ created }: SessionState, { id }: SessionRef): boolean =>
    created?.parent?.session === id;

  const notOurs = (): Fault => new Fault('tool_failed', 'That session is not a sub-agent of this one.');

  /** The first input of a sub-agent, which creates it, or a later one. Stored once, by its key. */
  async function submit(
    active: ActiveTurn,
    call: OpenCall,
    { child, agent, text, mode = 'queue' }: Submission,
  ): Promise<void> {
    const { admission, sessions, queue, deps } = internals();
    const { session, turn, signal } = active;
    const { created, cwd, parent } = { created: session.state.created, ...lineageOf(active, child) };
    const untrusted = isTainted(await session.context(), call.call);
    const ref: SessionRef = { owner: session.ref.owner, id: child.session };
    const reportTo = {
      turn: turn.id,
      call: call.call,
      ...((child.background || mode === 'steer') && { background: true as const }),
    };
    const own = {
      dialect: created?.dialect ?? '',
      domain: created?.domain ?? '',
      agent: turn.agent,
      via: turn.via,
    };
    await sessions.use(ref, async (kid) => {
      await kid.fresh();
      const isKnown = kid.state.keys.some(({ key }) => key === child.key);
      const command: Extract<Command, { type: 'input.submit' }> = {
        type: 'input.submit',
        parts: [textPart(text)],
        mode,
        named: true,
        ...(untrusted && { untrusted: true }),
      };
      if (child.worktree && !kid.state.created) await makeWorktree(active, ref);
      const leave = isKnown ? () => undefined : await admission.admit(kid, command);
      try {
        await kid.transact(
          (state) => {
            // The parent was cancelled, or another node drives it now.
            if (signal.aborted || !session.role.isDriver) return [];
            if (state.created && !isChildOf(state, session.ref)) throw notOurs();
            if (state.created)
              return decide(
                state,
                command,
                contextOf(own, { key: child.key, reportTo, apiKey: active.turn.apiKey }),
              );
            if (!agent) throw new Fault('tool_failed', 'That sub-agent was deleted.');
            const { id, name } = agent;
            const context = contextOf(
              { ...own, agent: { id, name } },
              { key: child.key, reportTo, parent, apiKey: active.turn.apiKey },
            );
            const [first, ...rest] = decide(state, command, context);
            if (first?.type !== 'session.created') return [];
            const model = modelFor(active, agent);
            return [
              {
                ...first,
                ...(cwd !== undefined && { cwd }),
                ...(created?.ephemeral && { ephemeral: true }),
                ...(child.worktree && { worktree: true }),
              },
              decideRename(child.path.at(-1) ?? name, undefined, context),
              ...(model === null ? [] : [{ type: 'session.configured', model, by: 'server' } as const]),
              ...rest,
            ];
          },
          queue.hasRoom(kid) ? 'if-free' : 'never',
        );
        if (!kid.role.isRemote) queue.wake(kid);
      } finally {
        leave();
      }
      deps.log.debug({ session: session.ref.id, child: child.session }, 'sub-agent called');
    });
  }

  /** What a sub-agent inherits. */
  function lineageOf(
    { session, turn, deps }: ActiveTurn,
    child: Pick<Delegation, 'path'>,
  ): { cwd: string | undefined; parent: ParentRef } {
    const cap = session.state.created?.parent;
    const offered = [...offeredTo(deps, turn.agent.id, {}, cap?.tools)];
    // The lowest ones get no tool for further ones.
    const isLast =
      !mayDelegate({ ...session.state, created: null, agent: turn.agent }) || child.path.length > 2;
    const parent = {
      session: session.ref.id,
      path: [...child.path],
      approval: modeOf(session, deps, turn.agent.id),
      // No client would learn of a call that it has to execute.
      tools: offered.flatMap(([name, { deferred, subAgent }]) =>
        deferred || (isLast && subAgent) ? [] : [name],
      ),
    };
    return { cwd: session.state.created?.cwd, parent };
  }

  /** Stops what the sub-agent does for this session; what a user does there goes on. */
  async function stop(session: Session, child: SessionId): Promise<void> {
    const { sessions } = internals();
    const ref: SessionRef = { owner: session.ref.owner, id: child };
    const turns = await sessions.use(ref, async (kid) => {
      await kid.fresh();
      if (!isChildOf(kid.state, session.ref)) return [];
      const { turn, queue } = kid.state;
      const queued = queue.flatMap((input) => (input.reportTo && input.turn ? [input.turn] : []));
      return [...queued, ...(turn?.reportTo ? [turn.id] : [])];
    });
    const caller = callerFor(session.ref);
    for (const turn of turns)
      await send(ref, { type: 'turn.cancel', turn }, caller).catch((thrown) => {
        // It has ended by itself.
        if (!(thrown instanceof Fault) || (thrown.code !== 'no_turn' && thrown.code !== 'not_found'))
          throw thrown;
      });
    await session.transact((state) =>
      state.children?.some((one) => one.session === child && one.state === 'stopping')
        ? [{ type: 'child.stopped', child }]
        : [],
    );
  }

  async function inform(session: Session, { again = false } = {}): Promise<void> {
    const { state } = session;
    const parent = state.created?.parent;
    if (!parent) return;
    const waits = pendingId(state);
    const [oldest] = state.outcomes ?? [];
    const told = state.told ?? null;
    if (!again && !oldest && told === waits) return;
    const { catalog } = internals().deps;
    const child = { session: session.ref.id, path: parent.path };
    const ended = oldest ? { ...oldest, ...(await outcomeOf(session, oldest.turn)) } : null;
    const ref: SessionRef = { owner: session.ref.owner, id: parent.session };
    await change(ref, async (above) => {
      const { created, agent } = above.state;
      const { dialect, domain } = created ?? { dialect: '', domain: catalog.defaultDomain };
      const context = contextOf({ dialect, domain, agent, via: undefined });
      const shown = shownOf(above.state, child.session);
      const report: Report = {
        child,
        ended,
        pending: pendingOf(state, child),
        inBackground: state.turn?.reportTo?.background === true,
        settled: shown !== null && shown !== waits ? await settledOf(session, shown) : null,
      };
      // A later report has more to tell.
      return (now) => (pendingId(session.state) === waits ? decideReport(now, report, context) : []);
    });
    await session.transact(
      (now) =>
        decideInformed(now, oldest?.turn ?? null, pendingId(now) === waits ? waits : (now.told ?? null)),
      'never',
    );
  }

  /** The text of its last step, or why it failed. */
  async function outcomeOf(
    session: Session,
    turn: TurnId,
  ): Promise<Omit<NonNullable<Report['ended']>, 'turn' | 'reportTo'>> {
    const { store } = internals().parts;
    const untrusted = isTainted(await session.context());
    let spent = NOTHING_SPENT;
    const texts: string[] = [];
    const merged: string[] = [];
    let ended: DurableEvent | null = null;
    let isLastStep = true;
    pages: for await (const page of eventsBackwards(store, session.ref, session.state.seq)) {
      for (const event of page.toReversed()) {
        if (!('turn' in event) || event.turn !== turn) continue;
        if (event.type === 'turn.started' || event.type === 'input.cancelled') {
          ended ??= event;
          break pages;
        }
        if (event.type === 'turn.ended' || event.type === 'turn.failed' || event.type === 'turn.cancelled')
          ended = event;
        // What became of its changes was said after its answer.
        if (event.type === 'question.asked' && event.purpose === 'merge' && event.call === undefined) {
          merged.unshift(...texts.splice(0));
          isLastStep = true;
        }
        if (event.type === 'step.ended' || event.type === 'tool.ended') isLastStep = texts.length === 0;
        if (event.type === 'step.ended') spent = addSpent(spent, event);
        if (event.type === 'text.ended' && isLastStep) texts.unshift(event.text);
      }
    }
    const text = texts.join('\n\n');
    const said = [
      text.length > ANSWER_CHARACTERS ? `${text.slice(0, ANSWER_CHARACTERS).toWellFormed()} …` : text,
      ...merged,
    ]
      .filter((part) => part !== '')
      .join('\n\n');
    const last = said === '' ? '' : ` The last that it said: ${said}`;
    const durationMs = ended && 'durationMs' in ended ? ended.durationMs : 0;
    const about = { untrusted, spent, durationMs };
    if (ended?.type === 'turn.ended')
      return { outcome: 'ok', text: said === '' ? '(no answer)' : said, ...about };
    if (ended?.type === 'turn.failed')
      return { outcome: 'failed', text: `The sub-agent failed: ${ended.fault.message}${last}`, ...about };
    return { outcome: 'cancelled', text: `The sub-agent was cancelled.${last}`, ...about };
  }

  /** What became of the approval or question. Null if it still waits, or if this node does not know of it yet. */
  async function settledOf({ ref, state }: Session, id: string): Promise<Report['settled']> {
    const { store } = internals().parts;
    if (waitingCall(state, id as ApprovalId) || openQuestion(state, id as QuestionId)) return null;
    for await (const page of eventsBackwards(store, ref, state.seq))
      for (const event of page.toReversed()) {
        if (event.type === 'question.answered' && event.question === id) {
          const { outcome, answers, by, dialect } = event;
          return { id, answered: { outcome, answers, by, dialect } };
        }
        if (event.type === 'approval.answered' && event.approval === id) {
          const { answer, by, dialect, said, reason } = event;
          return { id, answered: { answer, by, dialect, said, reason } };
        }
        if (event.type === 'approval.requested' && event.approval === id) return { id, answered: null };
        if (event.type === 'question.asked' && event.question === id) return { id, answered: null };
      }
    return null;
  }

  return {
    inform,

    delegation: ({ session, deps, turn }, request, others) => {
      const { state } = session;
      const now = { ...state, agent: turn.agent };
      return delegationOf(now, request, { others, newId: deps.newId, most, isAgent });
    },

    async run(active, call, request) {
      const { session, turn } = active;
      const end = (text: string, more: object = {}): DurableEventBody[] => [
        {
          type: 'tool.ended',
          turn: turn.id,
          call: call.call,
          outcome: 'ok',
          parts: [textPart(text)],
          durationMs: 0,
          ...more,
        },
      ];
      const { child } = call;
      if (!child) {
        const { session: id, path } = childNamed(session.state, request.agent);
        if (request.action === 'cancel') return end(`${request.agent} is being stopped.`, { stops: id });
        if (request.action !== 'message') throw new Fault('tool_failed', 'Nothing to do.');
        // The same key if the call runs again after a crash.
        const key = `${turn.id}:${turn.steps}:${call.call}`;
        const steered: Delegation = { session: id, path: [...path], does: 'message', key };
        await submit(active, call, { child: steered, text: request.text, mode: 'steer' });
        return end(`${request.agent} reads the message with its next step.`);
      }
      const delegated = [
        { type: 'call.delegated', turn: turn.id, call: call.call, child: child.session } as const,
      ];
      const ref: SessionRef = { owner: session.ref.owner, id: child.session };
      if (child.does === 'wait') {
        // It may have asked before this call was there to show it.
        await internals().sessions.use(ref, async (kid) => {
          await kid.fresh();
          await inform(kid, { again: true });
        });
        return delegated;
      }
      const agent = request.action === 'spawn' ? active.deps.catalog.agent(request.agent) : null;
      const text =
        request.action === 'spawn' ? request.task : request.action === 'message' ? request.text : '';
      await submit(active, call, { child, agent, text });
      if (!child.background) return delegated;
      return end(
        `The sub-agent ${child.path.at(-1)} works in the background. Its result arrives as a message; do not wait for it unless you need it now.`,
      );
    },

    async settle(session) {
      for (const { session: child, state } of session.state.children ?? [])
        if (state === 'stopping') await stop(session, child);
      await inform(session);
    },

    progress(ref, events, before) {
      const { created, turn } = before;
      const reportTo = turn?.reportTo;
      if (!created?.parent || !reportTo) return;
      const message = events.map(lineOf).findLast((line) => line !== null);
      if (message === undefined || message === null) return;
      const { sessions, deps } = internals();
      const above: SessionRef = { owner: ref.owner, id: created.parent.session };
      const { call } = reportTo;
      const steps = events.filter((event) => event.type === 'step.ended');
      const spent = steps.reduce(addSpent, turn.spent);
      sessions
        .use(above, async (session) => {
          if (session.state.turn?.calls.some((open) => open.child?.session === ref.id))
            session.publish({
              type: 'call.progress',
              call,
              execution: ref.id,
              status: 'executing',
              message,
              spent,
            });
        })
        .catch((err) => deps.log.warn({ err, session: above.id }, 'failed to show progress'));
    },
  };
}

type Submission = {
  readonly child: Delegation;
  /** for a new one */
  readonly agent?: Agent | null;
  readonly text: string;
  readonly mode?: 'queue' | 'steer';
};

/** Roles answer with the model of the session that they work for. */
function modelFor({ session, turn, deps }: ActiveTurn, agent: Agent): string | null {
  if (agent.model !== undefined) return null;
  return session.state.model ?? deps.catalog.agent(turn.agent.id).model ?? null;
}

const callerFor = ({ owner }: SessionRef): Caller => ({
  principal: { id: owner, role: 'user', permissions: ['chat:send'] },
  dialect: 'server',
});

/** What the event shows of the work, in one line. */
function lineOf(event: DurableEvent): string | null {
  const line = (text: string) => visibleLine(text).slice(0, PROGRESS_CHARACTERS).toWellFormed();
  switch (event.type) {
    case 'call.requested':
      return line(`${event.tool} ${wordsIn(event.input).join(' ')}`);
    case 'approval.requested':
      return line(`waits for approval: ${event.ask.description}`);
    case 'question.asked':
      return line(`waits for an answer: ${event.questions[0]?.text}`);
    case 'text.ended':
      return line(event.text.trim().split('\n')[0] ?? '');
    default:
      return null;
  }
}

/** The arguments of a call, without their structure. */
function wordsIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(wordsIn);
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(wordsIn);
  return value === null || typeof value === 'boolean' ? [] : [String(value)];
}
