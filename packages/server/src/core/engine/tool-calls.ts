/** The calls of one model answer: selects those that can continue, asks for approval, runs them in parallel, records results. */
import {
  type CallId,
  type ChangedFiles,
  type DurableEventBody,
  Fault,
  textOf,
  textPart,
} from '@parlance/protocol';
import { type AgentRequest, OutcomeUnknown, type ToolContext, type ToolResult } from '../ports/tool.ts';
import { mustInform, type OpenCall, type SessionState } from '../session/session-state.ts';
import { stillRuns } from '../session/sub-agents.ts';
import { unknownOutcome } from '../session/turn-events.ts';
import {
  approvalRequested,
  type CallPlan,
  callFailed,
  planCall,
  planInterrupted,
  questionAsked,
  type Runnable,
  toolFault,
} from './call-plan.ts';
import { providerOf } from './model-step.ts';
import { sample } from './questions.ts';
import { folderOf } from './session-folder.ts';
import { cappedData, cappedParts } from './tool-output.ts';
import { type ActiveTurn, activeTurn, record } from './turn-deps.ts';

/** Calls started with the end of a step, and the plans already made for the others. */
export type StartedCalls = {
  readonly started: readonly StartedCall[];
  readonly plans: ReadonlyMap<CallId, CallPlan>;
};

const NO_STARTED_CALLS: StartedCalls = { started: [], plans: new Map() };

type EndedCall = { readonly call: CallId; readonly events: readonly DurableEventBody[] };

const toolStarted = (
  { turn }: ActiveTurn,
  { call: { call }, runnable: { tool, child } }: StartedCall,
): DurableEventBody => ({
  type: 'tool.started',
  turn: turn.id,
  call,
  ...(tool.definition === undefined ? {} : { definition: tool.definition }),
  ...(child && { child }),
});

/** Maximum delay of the end of a step while deciding which calls start with it, in milliseconds. */
const PLANNING_MS = 250;

async function withinPlanningTime<Result>(
  { deps: { clock } }: ActiveTurn,
  result: Promise<Result>,
  otherwise: Result,
): Promise<Result> {
  const late = Promise.withResolvers<Result>();
  const timer = clock.setTimeout(() => late.resolve(otherwise), PLANNING_MS);
  return Promise.race([result, late.promise]).finally(() => clock.clear(timer));
}

/** Records the end of a step and the start of its calls that need no approval in one append. */
export async function startCalls(
  active: ActiveTurn,
  requested: readonly DurableEventBody<'call.requested'>[],
  events: readonly DurableEventBody[],
): Promise<StartedCalls> {
  const calls = requested.map(
    ({ call, tool, input, malformed }): OpenCall => ({
      call,
      tool,
      input,
      malformed,
      phase: 'requested',
    }),
  );
  const { start, settle } = active.stopping()
    ? NOTHING
    : await withinPlanningTime(
        active,
        selectCalls(active, calls, { running: new Map(), plans: new Map() }),
        NOTHING,
      );
  const recorded = await record(active, [...events, ...start.map((started) => toolStarted(active, started))]);
  return {
    started: recorded.length > 0 ? start : [],
    plans: new Map(settle.map(({ call, plan }) => [call.call, plan])),
  };
}

/**
 * Runs the open calls of the turn until each has an outcome or waits for an answer. Records the end of a call
 * as soon as it is known, together with the start of calls that waited for it.
 */
export async function runTools(active: ActiveTurn, startedCalls = NO_STARTED_CALLS): Promise<void> {
  const { session, signal } = active;
  const running: Running = new Map();
  const ended: EndedCall[] = [];
  const failures: unknown[] = [];
  let { plans } = startedCalls;
  let wake = Promise.withResolvers<void>();
  const launch = (started: StartedCall): void => {
    const { call, runnable } = started;
    const run = runTool(current(active), call, runnable)
      .then((events) => events && ended.push({ call: call.call, events }))
      .catch((thrown) => failures.push(thrown))
      .finally(() => {
        running.delete(call.call);
        wake.resolve();
      });
    running.set(call.call, { ...started, run });
  };
  // An answer may unblock a call while others run.
  const unsubscribe = session.channel.subscribe((event) => {
    if (
      event.type === 'approval.answered' ||
      event.type === 'question.answered' ||
      event.type === 'approval.requested' ||
      event.type === 'question.asked'
    )
      wake.resolve();
  });
  try {
    for (const started of startedCalls.started) launch(started);
    for (;;) {
      wake = Promise.withResolvers();
      const pass = { running, ended: ended.splice(0), plans, launch };
      const progressed = await advance(current(active), pass);
      plans = NO_STARTED_CALLS.plans;
      if (failures.length > 0) throw failures[0];
      if (signal.aborted || session.role.isLost) return;
      if (progressed) continue;
      if (running.size === 0 && ended.length === 0) return;
      // What a sub-agent asks must not wait for its other calls.
      if (await informed(active)) continue;
      await wake.promise;
    }
  } finally {
    unsubscribe();
    // Running calls belong to this turn: wait for them before anything else is decided.
    if (!signal.aborted) await Promise.all([...running.values()].map(({ run }) => run));
  }
}

/** False if the parent knew already. If it cannot be informed now, that is repeated after the calls. */
async function informed({ session, deps }: ActiveTurn): Promise<boolean> {
  if (!mustInform(session.state)) return false;
  try {
    await deps.subAgents.inform(session);
    return !mustInform(session.state);
  } catch (err) {
    deps.log.warn({ err, session: session.ref.id }, 'failed to inform parent');
    return false;
  }
}

type Running = Map<CallId, StartedCall & { readonly run: Promise<unknown> }>;

type Pass = {
  readonly running: Running;
  readonly ended: readonly EndedCall[];
  readonly plans: StartedCalls['plans'];
  readonly launch: (started: StartedCall) => void;
};

/** The current turn: an earlier call may have changed its agent. */
function current(active: ActiveTurn): ActiveTurn {
  const { turn } = active.session.state;
  return turn?.id === active.turn.id ? activeTurn(active, turn) : active;
}

/** Records ended calls and continues each call that can. False if there was nothing to do, or nobody to do it for. */
async function advance(active: ActiveTurn, { running, ended, plans, launch }: Pass): Promise<boolean> {
  const { session, turn } = active;
  const changes: { readonly call: OpenCall; readonly events: readonly DurableEventBody[] }[] = [];
  const open: OpenCall[] = [];
  for (const call of turn.calls) {
    const result = ended.find((one) => one.call === call.call);
    if (result) changes.push({ call, events: result.events });
    else open.push(call);
  }
  const { start, settle } = isPaused(active, changes)
    ? NOTHING
    : await selectCalls(active, open, { running, plans });
  for (const planned of settle)
    changes.push({ call: planned.call, events: await settlingEvents(active, planned) });
  for (const started of start) changes.push({ call: started.call, events: [toolStarted(active, started)] });
  if (changes.length === 0) return false;
  // Another node may have stored an answer since, such as a denial: only what is decided on the current state is recorded.
  const isCurrent = ({ turn: now }: SessionState, { call }: { readonly call: OpenCall }): boolean =>
    now?.id === turn.id && now.calls.some((one) => one.call === call.call && one.phase === call.phase);
  const recorded = await session.transact((state) =>
    changes
      .filter((change) => isCurrent(state, change))
      .flatMap(({ events }) => events.filter((event) => stillRuns(state, event))),
  );
  const hasStarted = ({ call }: StartedCall): boolean =>
    recorded.some((event) => event.type === 'tool.started' && event.call === call.call);
  for (const started of start.filter(hasStarted)) launch(started);
  return recorded.length > 0;
}

const NOTHING: Selection = { start: [], settle: [] };

/** No call starts while the server is stopping, or before a handoff is complete. */
const isPaused = (
  { stopping, signal }: ActiveTurn,
  results: readonly { readonly events: readonly DurableEventBody[] }[],
): boolean =>
  stopping() ||
  signal.aborted ||
  results.some(({ events }) => events.some(({ type }) => type === 'agent.changed'));

async function settlingEvents(active: ActiveTurn, { call, plan }: PlannedCall): Promise<DurableEventBody[]> {
  switch (plan.kind) {
    case 'ask':
      return [approvalRequested(active, call, plan.ask)];
    case 'question':
      return [questionAsked(active, plan.question, { call: call.call })];
    case 'end':
      return [plan.event];
    case 'run':
      return deferCall(active, call, plan.runnable);
  }
}

// Selects the calls of a turn that can continue now. Calls of one answer run in parallel, up to a limit.

type StartedCall = { readonly call: OpenCall; readonly runnable: Runnable; readonly alone: boolean };

type PlannedCall = { readonly call: OpenCall; readonly plan: CallPlan };

type Selection = {
  /** calls that can start together */
  readonly start: readonly StartedCall[];
  /** calls that request approval, end without running, or go to a client that may be disconnected */
  readonly settle: readonly PlannedCall[];
};

type SelectionOptions = {
  readonly running: ReadonlyMap<CallId, Pick<StartedCall, 'alone'>>;
  /** plans made in an earlier pass */
  readonly plans: ReadonlyMap<CallId, CallPlan>;
};

/**
 * Looks at the open calls in order. A call that runs alone starts when no other call runs, and later calls
 * wait until it has ended; a call that waits for approval blocks only calls that must keep their order
 * (`exclusive: 'always'`).
 */
async function selectCalls(
  active: ActiveTurn,
  calls: readonly OpenCall[],
  { running, plans }: SelectionOptions,
): Promise<Selection> {
  const { deps } = active;
  const limit = deps.catalog.agent(active.turn.agent.id).parallelCalls ?? deps.parallelCalls;
  const start: StartedCall[] = [];
  const settle: PlannedCall[] = [];
  const selection = { start, settle };
  let orderedWaits = false;
  for (const call of calls) {
    const ordered = deps.tools.get(call.tool)?.exclusive === 'always';
    const runningCall = running.get(call.call);
    if (call.phase === 'waiting' || call.phase === 'delegated') orderedWaits ||= ordered;
    const isElsewhere = call.phase === 'deferred' || call.phase === 'asking' || call.phase === 'delegated';
    if (runningCall?.alone || (isElsewhere && ordered)) return selection;
    if (runningCall || call.phase === 'waiting' || isElsewhere) continue;
    if (ordered && orderedWaits) continue;
    const plan =
      call.phase === 'running'
        ? planInterrupted(active, call)
        : (plans.get(call.call) ?? (await planCall(active, call)));
    // One at a time: a word must not be able to answer both.
    const waits =
      calls.some(({ phase }) => phase === 'waiting') || settle.some((one) => one.plan.kind === 'ask');
    if (plan.kind === 'question' && waits) return selection;
    if (plan.kind !== 'run') {
      settle.push({ call, plan });
      if (plan.kind === 'ask') orderedWaits ||= ordered;
      if (plan.kind === 'question' && ordered) return selection;
      continue;
    }
    const busy = running.size + start.length;
    if (busy >= (plan.alone ? 1 : limit)) return selection;
    if (plan.runnable.tool.deferred) settle.push({ call, plan });
    else if (plan.runnable.tool.subAgent && call.phase !== 'running') {
      const delegated = withDelegation(active, call, { ...plan, others: start });
      if (delegated.kind === 'run') start.push({ call, runnable: delegated.runnable, alone: plan.alone });
      else settle.push({ call, plan: delegated });
    } else start.push({ call, runnable: plan.runnable, alone: plan.alone });
    if (plan.alone) return selection;
  }
  return selection;
}

/** Names the sub-agent of a call, together with the calls that start at the same time. */
function withDelegation(
  active: ActiveTurn,
  call: OpenCall,
  {
    runnable,
    alone,
    others,
  }: Extract<CallPlan, { kind: 'run' }> & { readonly others: readonly StartedCall[] },
): CallPlan {
  const request = runnable.tool.subAgent?.(runnable.input);
  if (!request) return { kind: 'run', runnable, alone };
  try {
    const starting = others.flatMap((other) => other.runnable.child ?? []);
    const child = active.deps.subAgents.delegation(active, request, starting);
    return { kind: 'run', runnable: { ...runnable, ...(child && { child }) }, alone };
  } catch (thrown) {
    return { kind: 'end', event: callFailed(active, call, toolFault(active, call, thrown).message) };
  }
}

// Runs the tool of an approved call.

type CheckpointedResult = { readonly files?: ChangedFiles | undefined };

/** Runs a call whose `tool.started` is stored. Returns the events that end it, or null if it was stopped. */
async function runTool(
  active: ActiveTurn,
  call: OpenCall,
  runnable: Runnable,
): Promise<DurableEventBody[] | null> {
  const { session, deps, turn, signal } = active;
  if (signal.aborted || session.state.turn?.id !== turn.id || !session.role.isDriver) return null;
  const request = runnable.tool.subAgent?.(runnable.input);
  if (request)
    return delegate(active, { ...call, ...(runnable.child && { child: runnable.child }) }, request);
  const startedAt = deps.now();
  // A tool that ignores its signal must not block the session.
  const result = await Promise.race([toolResult(active, call, runnable), aborted(signal)]);
  if (!result || signal.aborted) return null;
  if (result instanceof OutcomeUnknown) return [unknownOutcome(call, turn.id, result.message)];
  const { asks } = result;
  if (asks) {
    const asked = questionAsked(active, asks.question, { call: call.call, resume: asks.resume });
    void asks.until
      ?.then(() => withdraw(active, asked))
      .catch((err) => {
        deps.log.warn({ err, session: session.ref.id, call: call.call }, 'failed to withdraw question');
      });
    return [asked];
  }
  const durationMs = deps.now() - startedAt;
  return [toolEnded(active, call, { result, durationMs }), ...handoff(active, result)];
}

/** Nobody needs the answer any more: the call goes on without it. */
async function withdraw(
  { session, deps }: ActiveTurn,
  { turn, question, call }: DurableEventBody<'question.asked'>,
): Promise<void> {
  await session.transact(({ turn: current }) =>
    current?.questions.some((open) => open.question === question)
      ? [
          {
            ...{ type: 'question.answered', turn, question, call, outcome: 'withdrawn' },
            ...{ by: 'server', dialect: 'server' },
          },
        ]
      : [],
  );
  deps.wake(session);
}

async function delegate(
  active: ActiveTurn,
  call: OpenCall,
  request: AgentRequest,
): Promise<DurableEventBody[] | null> {
  const { deps, signal, session } = active;
  try {
    const events = await deps.subAgents.run(active, call, request);
    return signal.aborted ? null : events;
  } catch (thrown) {
    // The turn continues when the store is back, and with it the call.
    if (session.isOutage(thrown)) throw thrown;
    return signal.aborted ? null : [callFailed(active, call, toolFault(active, call, thrown).message)];
  }
}

/** The events that defer a valid call to a client that may be disconnected. */
async function deferCall(
  active: ActiveTurn,
  call: OpenCall,
  runnable: Runnable,
): Promise<DurableEventBody[]> {
  const { turn } = active;
  const result = await toolResult(active, call, runnable);
  if (result instanceof OutcomeUnknown) return [unknownOutcome(call, turn.id, result.message)];
  if (result.failed) return [callFailed(active, call, textOf(result.parts))];
  return [
    { type: 'tool.started', turn: turn.id, call: call.call },
    { type: 'call.deferred', turn: turn.id, call: call.call, notice: result.notice },
  ];
}

async function toolResult(
  active: ActiveTurn,
  call: OpenCall,
  runnable: Runnable,
): Promise<(ToolResult & CheckpointedResult) | OutcomeUnknown> {
  try {
    const folder = folderOf(active.session, active.deps);
    const { root } = folder instanceof Promise ? await folder : folder;
    const context = { ...toolContext(active, call, runnable), root };
    const changes = active.deps.checkpoints && runnable.tool.changes?.(runnable.input, context);
    return await (changes
      ? withCheckpoint(active, runnable, { context, changes })
      : runnable.tool.run(runnable.input, context));
  } catch (thrown) {
    if (active.signal.aborted) return { parts: [], failed: true };
    if (thrown instanceof OutcomeUnknown) return thrown;
    return { parts: [textPart(toolFault(active, call, thrown).message)], failed: true };
  }
}

type Checkpointed = { readonly context: ToolContext; readonly changes: 'folder' | readonly string[] };

/** Runs the call between two looks at the files that it may change. Without a checkpoint, the call runs and says so. */
async function withCheckpoint(
  { session, deps, turn }: ActiveTurn,
  { tool, input }: Runnable,
  { context, changes }: Checkpointed,
): Promise<ToolResult & CheckpointedResult> {
  const { created, seq } = session.state;
  const failed = (err: unknown): ChangedFiles => {
    deps.log.warn({ err, session: session.ref.id, call: context.call }, 'checkpoint failed');
    return { changed: [], unprotected: 'the checkpoint could not be stored' };
  };
  const settle = await deps.checkpoints
    ?.before(
      {
        session: { ...session.ref, createdAt: created?.at ?? 0 },
        ephemeral: created?.ephemeral === true,
        turn: turn.id,
        call: context.call,
        seq,
        root: context.root,
        signal: context.signal,
      },
      changes,
    )
    .catch((thrown) => async () => failed(thrown));
  if (context.signal.aborted) {
    await settle?.().catch(failed);
    throw new Fault('cancelled', 'aborted');
  }
  try {
    const result = await tool.run(input, context);
    return { ...result, files: await settle?.().catch(failed) };
  } catch (thrown) {
    await settle?.().catch(failed);
    throw thrown;
  }
}

function aborted(signal: AbortSignal): Promise<null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  if (signal.aborted) resolve(null);
  signal.addEventListener('abort', () => resolve(null), { once: true });
  return promise;
}

const toolEnded = (
  { turn }: ActiveTurn,
  { call }: OpenCall,
  { result, durationMs }: { readonly result: ToolResult & CheckpointedResult; readonly durationMs: number },
): DurableEventBody => ({
  type: 'tool.ended',
  turn: turn.id,
  call,
  outcome: result.failed ? 'failed' : 'ok',
  parts: cappedParts(result.parts),
  data: cappedData(result.data),
  durationMs,
  untrusted: result.untrusted,
  final: result.final,
  notice: result.notice,
  ...(result.app && { app: result.app }),
  ...(result.files && { files: result.files }),
});

function handoff({ deps, turn }: ActiveTurn, result: ToolResult): DurableEventBody[] {
  if (!result.handoff) return [];
  const { id, name } = deps.catalog.agent(result.handoff.agent);
  const { reason } = result.handoff;
  return [{ type: 'agent.changed', turn: turn.id, from: turn.agent, to: { id, name }, reason }];
}

function toolContext(
  { session, deps, turn, signal }: ActiveTurn,
  open: OpenCall,
  { permission }: Runnable,
): Omit<ToolContext, 'root'> {
  const { call } = open;
  const { owner, id } = session.ref;
  const run = { at: deps.now(), id: deps.newId() };
  return {
    session: id,
    owner,
    call,
    signal,
    permission,
    answer: (open.phase === 'allowed' && open.answer) || null,
    eventsSinceIdle: session.eventsSinceIdle,
    atClient: (request) =>
      deps.clients.dispatch({
        run,
        owner,
        prefer: turn.via,
        request,
        signal,
        report: (progress, execution) =>
          session.publish({ type: 'call.progress', call, execution, ...progress }),
      }),
    complete: (request) => {
      const agent = deps.catalog.agent(turn.agent.id);
      const provider = providerOf(deps, agent, session.state.model);
      return sample(session, { ...deps, provider }, request, turn);
    },
    log: deps.log,
    peer: deps.clients.peerOf(session.ref),
    report: (progress) =>
      session.publish({ type: 'call.progress', call, execution: run.id, status: 'executing', ...progress }),
  };
}
