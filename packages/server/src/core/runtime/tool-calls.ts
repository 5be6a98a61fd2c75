/** Starts the calls of one model answer, runs them in parallel, and records their results. */
import type { CallId, DurableEventBody } from '@parlance/protocol';
import type { OpenCall } from '../domain/session-state.ts';
import { type ActiveTurn, activeTurn, record } from './active-turn.ts';
import { type PlannedCall, type Selection, type StartedCall, selectCalls } from './call-selection.ts';
import { approvalRequested, type CallPlan } from './tool-call.ts';
import { deferCall, runTool } from './tool-run.ts';

/** Calls started with the end of a step, and the plans already made for the others. */
export type StartedCalls = {
  readonly started: readonly StartedCall[];
  readonly plans: ReadonlyMap<CallId, CallPlan>;
};

const NO_STARTED_CALLS: StartedCalls = { started: [], plans: new Map() };

type EndedCall = { readonly call: CallId; readonly events: readonly DurableEventBody[] };

const toolStarted = (
  { turn }: ActiveTurn,
  { call: { call }, runnable: { tool } }: StartedCall,
): DurableEventBody => ({
  type: 'tool.started',
  turn: turn.id,
  call,
  ...(tool.definition === undefined ? {} : { definition: tool.definition }),
});

/** Maximum delay of the end of a step while deciding which calls start with it, in milliseconds. */
const PLANNING_MS = 250;

async function withinPlanningTime<Result>(result: Promise<Result>, otherwise: Result): Promise<Result> {
  const late = Promise.withResolvers<Result>();
  const timer = setTimeout(() => late.resolve(otherwise), PLANNING_MS);
  return Promise.race([result, late.promise]).finally(() => clearTimeout(timer));
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
    : await withinPlanningTime(selectCalls(active, calls, { running: new Map(), plans: new Map() }), NOTHING);
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
    if (event.type === 'approval.answered') wake.resolve();
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
      await wake.promise;
    }
  } finally {
    unsubscribe();
    // Running calls belong to this turn: wait for them before anything else is decided.
    if (!signal.aborted) await Promise.all([...running.values()].map(({ run }) => run));
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

/** Records ended calls and continues each call that can. False if there was nothing to do. */
async function advance(active: ActiveTurn, { running, ended, plans, launch }: Pass): Promise<boolean> {
  const { calls } = active.turn;
  const results = calls.flatMap(({ call }) => ended.find((one) => one.call === call)?.events ?? []);
  const open = calls.filter(({ call }) => !ended.some((one) => one.call === call));
  const { start, settle } = isPaused(active, results)
    ? NOTHING
    : await selectCalls(active, open, { running, plans });
  const settled: DurableEventBody[] = [];
  for (const planned of settle) settled.push(...(await settlingEvents(active, planned)));
  const events = [...results, ...settled, ...start.map((started) => toolStarted(active, started))];
  if (events.length === 0) return false;
  const recorded = await record(active, events);
  if (recorded.length > 0) for (const started of start) launch(started);
  return true;
}

const NOTHING: Selection = { start: [], settle: [] };

/** No call starts while the server is stopping, or before a handoff is complete. */
const isPaused = ({ stopping, signal }: ActiveTurn, results: readonly DurableEventBody[]): boolean =>
  stopping() || signal.aborted || results.some(({ type }) => type === 'agent.changed');

async function settlingEvents(active: ActiveTurn, { call, plan }: PlannedCall): Promise<DurableEventBody[]> {
  switch (plan.kind) {
    case 'ask':
      return [approvalRequested(active, call, plan.ask)];
    case 'end':
      return [plan.event];
    case 'run':
      return deferCall(active, call, plan.runnable);
  }
}
