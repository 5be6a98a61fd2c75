/** The calls of one model answer: selects those that can continue, asks for approval, runs them in parallel, records results. */
import {
  type ApprovalId,
  type ApprovalMode,
  type Ask,
  asFault,
  type CallId,
  type ChangedFiles,
  type Delegation,
  type DurableEvent,
  type DurableEventBody,
  Fault,
  type JsonObject,
  type Part,
  type QuestionContent,
  type QuestionId,
  type TurnId,
  textOf,
  textPart,
  visibleQuestion,
} from '@parlance/protocol';
import {
  type AgentRequest,
  OutcomeUnknown,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../ports/tool.ts';
import {
  applyPolicy,
  approvalHash,
  type PolicyInput,
  permissionOf,
  stricter,
  withVisibleText,
} from '../session/approvals.ts';
import { isTainted } from '../session/context.ts';
import { unknownOutcome } from '../session/decide.ts';

import { mustSettle, type OpenCall, type SessionState, type Turn } from '../session/session-state.ts';
import { usageOfStep } from '../session/spending.ts';
import { stillRuns } from '../session/sub-agents.ts';

import { offeredTo } from './model-step.ts';

import type { Session } from './session.ts';
import type { ActiveTurn, TurnDeps } from './turn-deps.ts';

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
  if (!session.state.created?.parent || !mustSettle(session.state)) return false;
  try {
    await deps.subAgents.inform(session);
    return true;
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

// Plans one call of a turn: whether it is valid, and whether it may run.

/** What the agent of the turn is offered; of a sub-agent, at most what its parent has. */
const offeredToSession = ({ deps, turn, session }: ActiveTurn): ReadonlyMap<string, Tool> =>
  offeredTo(deps, turn.agent.id, turn.terms, session.state.created?.parent?.tools);

type PossibleCall = ReturnType<typeof possibleCall>;

/** `alone`: no other call of the turn may run at the same time. */
type CallPlan =
  | { readonly kind: 'run'; readonly runnable: Runnable; readonly alone: boolean }
  | { readonly kind: 'ask'; readonly ask: Ask }
  /** the call is a question to the user */
  | { readonly kind: 'question'; readonly question: QuestionContent }
  /** ends without running */
  | { readonly kind: 'end'; readonly event: DurableEventBody };

/** Decides how a requested or approved call continues. Has no side effects. */
async function planCall(active: ActiveTurn, call: OpenCall): Promise<CallPlan> {
  if (call.malformed !== undefined) {
    const message = `The arguments are not a JSON object: ${call.malformed.slice(0, 200)}`;
    return { kind: 'end', event: callFailed(active, call, message) };
  }
  const { deps, turn, session } = active;
  // An answer to a question of the call allows nothing by itself.
  const isDecided =
    call.phase === 'allowed' && call.answer
      ? session.eventsSinceIdle.some(
          (event) => event.type === 'approval.answered' && event.call === call.call,
        )
      : call.phase !== 'requested';
  let possible: PossibleCall;
  let ask: Ask | null = null;
  let folder: SessionFolder;
  let tainted = false;
  try {
    possible = possibleCall(offeredToSession(active), call.tool, call.input);
    folder = await folderOf(session, deps);
    if (!isDecided) {
      ask = await possible.tool.approval(possible.input, { root: folder.root });
      // A direct call is the user's own, whatever the context contains.
      const isDirect = turn.steps === 0 && turn.answered;
      tainted = !isDirect && isTainted(await session.context(), call.call);
    }
  } catch (thrown) {
    return { kind: 'end', event: callFailed(active, call, toolFault(active, call, thrown).message) };
  }
  const { exclusive } = possible.tool;
  const alone =
    exclusive === 'always' || (exclusive === 'if-asked' && (ask !== null || call.phase === 'allowed'));
  if (isDecided) return { kind: 'run', runnable: { ...possible, permission: 'approved' }, alone };
  const input = policyInput(active, call, { ...possible, ask, tainted, folder });
  switch (applyPolicy(input)) {
    case 'deny':
      return { kind: 'end', event: callDenied(active, call) };
    case 'ask':
      return {
        kind: 'ask',
        ask: withVisibleText(withFolder(ask ?? defaultAsk(call, input), folder.root, deps)),
      };
    case 'run': {
      const question = possible.tool.question?.(possible.input);
      if (question) return { kind: 'question', question };
      return { kind: 'run', runnable: { ...possible, permission: permissionOf(input) }, alone };
    }
  }
}

/**
 * Plans a call that ran when the process ended. Runs it again only if it is repeatable and its tool has not changed since;
 * otherwise its outcome is unknown.
 */
function planInterrupted(
  { deps, turn }: ActiveTurn,
  call: Extract<OpenCall, { phase: 'running' }>,
): CallPlan {
  const tool = deps.tools.get(call.tool);
  const parsed = tool?.input.safeParse(call.input);
  if (tool?.repeatable && tool.definition === call.definition && parsed?.success) {
    const child = call.child ? { child: call.child } : {};
    const runnable = { tool, input: parsed.data, permission: 'mode', ...child } as const;
    return { kind: 'run', runnable, alone: tool.exclusive !== undefined };
  }
  const event = unknownOutcome(call, turn.id, 'The server was restarted while this ran.');
  return { kind: 'end', event };
}

function policyInput(
  { session, deps, turn }: ActiveTurn,
  call: OpenCall,
  {
    tool,
    input,
    ask,
    tainted,
    folder,
  }: PossibleCall & Pick<PolicyInput, 'ask' | 'tainted'> & { readonly folder: SessionFolder },
): PolicyInput {
  const { grants } = session.state;
  return {
    tools: [call.tool, ...(tool.ruledAs?.(input) ?? [])],
    mode: modeOf(session, deps, turn.agent.id),
    rules: deps.rules ?? [],
    ask,
    subjects: tool.subjects?.(input, folder.inServer) ?? { literal: [JSON.stringify(call.input)] },
    grants,
    tainted,
    sends: tool.sends?.(input, session) ?? false,
  };
}

/** The mode of the session, else of the agent, else of the server; of a sub-agent, at most that of its parent. */
export function modeOf({ state }: Session, deps: TurnDeps, agent: string): ApprovalMode {
  const most = state.created?.parent?.approval;
  const chosen = state.approvalMode ?? deps.catalog.agent(agent).approval ?? most ?? deps.approvalMode;
  const mode = most === undefined ? chosen : stricter(chosen, most);
  return mode === 'full-auto' && deps.fullAutoProblem !== null ? 'suggest' : mode;
}

/** Some dialects show only the description, and it must fit into a message. */
const DESCRIBED_CHARACTERS = 2_500;

/** For a call that needs approval only because of a rule, or of what the context contains. */
function defaultAsk({ tool, input }: OpenCall, { tainted, sends }: PolicyInput): Ask {
  const written = JSON.stringify(input);
  const shown = written.slice(0, DESCRIBED_CHARACTERS).toWellFormed();
  const description =
    tainted && sends
      ? `The conversation contains untrusted content, and ${tool} sends this elsewhere: ${shown === written ? shown : `${shown} …`}`
      : `Uses ${tool}.`;
  return { kind: 'other', command: [tool, written], description };
}

const callDenied = ({ turn }: ActiveTurn, { call }: OpenCall): DurableEventBody => ({
  type: 'tool.ended',
  turn: turn.id,
  call,
  outcome: 'denied',
  parts: [textPart('A rule of this server does not allow this call.')],
  durationMs: 0,
});

const approvalRequested = (
  { deps, turn }: ActiveTurn,
  { call, tool, input }: OpenCall,
  ask: Ask,
): DurableEventBody => ({
  type: 'approval.requested',
  turn: turn.id,
  call,
  approval: deps.newId() as ApprovalId,
  ask,
  hash: approvalHash(tool, input, ask),
});

/** Asks the user. Without a call, the turn waits before its next model call. */
export const questionAsked = (
  { deps, turn }: Pick<ActiveTurn, 'deps' | 'turn'>,
  content: QuestionContent,
  asks: Pick<DurableEventBody<'question.asked'>, 'call' | 'resume'> = {},
): DurableEventBody<'question.asked'> => ({
  ...visibleQuestion(content),
  ...asks,
  type: 'question.asked',
  turn: turn.id,
  question: deps.newId() as QuestionId,
});

// Runs the tool of an approved call.

type CheckpointedResult = { readonly files?: ChangedFiles | undefined };

type Runnable = {
  readonly tool: Tool;
  readonly input: unknown;
  /** the sub-agent that works for the call */
  readonly child?: Delegation;
} & Pick<ToolContext, 'permission'>;

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
  if (asks) return [questionAsked(active, asks.question, { call: call.call, resume: asks.resume })];
  const durationMs = deps.now() - startedAt;
  return [toolEnded(active, call, { result, durationMs }), ...handoff(active, result)];
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

/** The call failed before it ran. The model receives the message, and the turn continues. */
const callFailed = ({ turn }: ActiveTurn, { call }: OpenCall, message: string): DurableEventBody => ({
  type: 'tool.ended',
  turn: turn.id,
  call,
  outcome: 'failed',
  parts: [textPart(message)],
  durationMs: 0,
});

/** The fault that the model receives. Logs internal errors. */
function toolFault({ session, deps, turn }: ActiveTurn, { call, tool }: OpenCall, thrown: unknown): Fault {
  const fault = asFault(thrown);
  if (fault.code === 'internal') {
    const ids = { tool, call, turn: turn.id, session: session.ref.id, connection: turn.via };
    deps.log.error({ err: fault.cause, ...ids }, 'tool failed');
  }
  return fault;
}

/** If a tool throws, the model receives the message and the turn continues. */
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
    log: deps.log,
    peer: deps.clients.peerOf(session.ref),
    report: (progress) =>
      session.publish({ type: 'call.progress', call, execution: run.id, status: 'executing', ...progress }),
  };
}

// Limits the output of one call.

/** In characters, across all parts. */
const OUTPUT_LIMIT = 100_000;

/** Limits the text of all parts to `OUTPUT_LIMIT` characters, with a marker in place of removed text. */
function cappedParts(parts: readonly Part[]): Part[] {
  let left = OUTPUT_LIMIT;
  return parts.map((part) => {
    if (part.type !== 'text') return part;
    const text = capped(part.text, left);
    left = Math.max(0, left - part.text.length);
    return textPart(text);
  });
}

/** Cuts long strings. Drops data that is still too large, since the parts contain it as well. */
function cappedData(data: JsonObject | undefined): JsonObject | undefined {
  if (!data || sizeOf(data) <= OUTPUT_LIMIT) return data;
  const cut = Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'string' ? capped(value, OUTPUT_LIMIT / 2) : value,
    ]),
  );
  return sizeOf(cut) <= OUTPUT_LIMIT ? cut : undefined;
}

const sizeOf = (data: JsonObject): number => JSON.stringify(data).length;

function capped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const note = `\n… ${text.length - half * 2} characters left out …\n`;
  return (text.slice(0, half) + note + text.slice(text.length - half)).toWellFormed();
}

// The working folder for the tools of a session.

export type SessionFolder = {
  readonly root: string;
  /** path relative to the server's working directory; empty if it is that directory, or outside of it */
  readonly inServer: string;
};

/**
 * Checked at each call, since the folder may change during a session. Rejects with `tool_failed` if it cannot
 * be used. Synchronous if the session uses the server's folder.
 */
export function folderOf(
  { state }: Session,
  { root, folders }: Pick<TurnDeps, 'root' | 'folders'>,
): SessionFolder | Promise<SessionFolder> {
  const cwd = state.created?.cwd;
  return cwd === undefined ? { root, inServer: '' } : ownFolder(cwd, folders);
}

async function ownFolder(cwd: string, folders: TurnDeps['folders']): Promise<SessionFolder> {
  if (!folders) throw new Fault('tool_failed', 'This server does not allow session folders.');
  return { root: cwd, inServer: await folders.check(cwd) };
}

/** Adds the folder to the description of an approval, if it is not the server's. */
export const withFolder = (ask: Ask, folder: string, { root }: Pick<TurnDeps, 'root'>): Ask =>
  folder === root ? ask : { ...ask, description: `${ask.description} Working folder: ${folder}` };

// Validates a call.

/**
 * Returns the tool and its parsed input. Throws `tool_invalid` if the tool does not exist or the input is
 * invalid.
 */
export function possibleCall(
  tools: ReadonlyMap<string, Tool>,
  name: string,
  input: JsonObject,
): { readonly tool: Tool; readonly input: unknown } {
  const tool = tools.get(name);
  if (!tool) throw new Fault('tool_invalid', `Unknown tool: ${name}`);
  const parsed = tool.input.safeParse(input);
  if (parsed.success) return { tool, input: parsed.data };
  const issue = parsed.error.issues[0];
  const where = issue?.path.join('.') || 'input';
  throw new Fault('tool_invalid', `Invalid parameters for ${name}: ${where}: ${issue?.message}`);
}

export const activeTurn = (
  { session, deps, stopping }: Pick<ActiveTurn, 'session' | 'deps' | 'stopping'>,
  turn: Turn,
): ActiveTurn => ({ session, deps, turn, signal: session.signal(turn.id), stopping });

type TurnRef = {
  readonly session: Session;
  readonly turn: { readonly id: TurnId } & Partial<Pick<Turn, 'agent' | 'apiKey'>>;
};

/** Appends events of this turn. If the turn has ended by then, they are dropped, and only the usage of a step is kept. */
export async function record(
  { session, turn }: TurnRef,
  events: readonly DurableEventBody[],
): Promise<DurableEvent[]> {
  const recorded = await session.transact((state) => (state.turn?.id === turn.id ? events : []));
  if (recorded.length > 0 || !turn.agent) return recorded;
  await recordUsage(session, usageOfStep(events, { ...turn, agent: turn.agent }));
  return recorded;
}

/** Counts model calls of which nothing else is recorded. */
export async function recordUsage(session: Session, events: readonly DurableEventBody[]): Promise<void> {
  if (events.length > 0) await session.transact(({ created }) => (created ? events : []), 'never');
}
