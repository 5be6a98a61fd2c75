/** One call of a turn: is it possible, may it run, what came of it. */
import {
  type ApprovalId,
  type Ask,
  asFault,
  type DurableEventBody,
  type Fault,
  textOf,
  textPart,
} from '@parlance/protocol';
import { approvalHash, isApproved, type Judged, judge, plainly } from '../domain/approvals.ts';
import { unknownOutcome } from '../domain/decide.ts';
import type { OpenCall, Turn } from '../domain/session-state.ts';
import type { Tool, ToolContext, ToolResult } from '../ports/tool.ts';
import type { LiveSession } from './live-session.ts';
import { cappedData, cappedParts } from './output.ts';
import { offeredTo } from './prompt.ts';
import { stampedId } from './stamped-id.ts';
import { possibleCall } from './tool-input.ts';
import { recordIn, type TurnDeps } from './turn.ts';

type Possible = ReturnType<typeof possibleCall>;
type Runnable = Possible & Pick<ToolContext, 'approved' | 'unasked'>;

/** Brings a call one step further: to its approval, or to its outcome. */
export async function settleCall(
  session: LiveSession,
  deps: TurnDeps,
  turn: Turn,
  call: OpenCall,
): Promise<void> {
  if (call.phase === 'running') return lost(session, deps, turn, call);
  let possible: Possible;
  let ask: Ask | null = null;
  if (call.malformed !== undefined) {
    return failed(
      session,
      turn,
      call,
      `The arguments are not a JSON object: ${call.malformed.slice(0, 200)}`,
    );
  }
  try {
    possible = possibleCall(offeredTo(deps, turn.agent.id), call.tool, call.input);
    if (call.phase === 'requested') ask = await possible.tool.approval(possible.input, { root: deps.root });
  } catch (thrown) {
    return failed(session, turn, call, faultOf(thrown, session, turn, call, deps).message);
  }
  if (call.phase === 'requested') {
    const judged: Judged = {
      tools: [call.tool, ...(possible.tool.ruledAs?.(possible.input) ?? [])],
      mode: session.state.approvalMode ?? deps.catalog.agent(turn.agent.id).approval ?? deps.approvalMode,
      rules: deps.rules ?? [],
      ask,
      subjects: possible.tool.subjects?.(possible.input) ?? { literal: [JSON.stringify(call.input)] },
      grants: session.state.grants,
      tainted: session.state.turn?.tainted ?? false,
    };
    const verdict = judge(judged);
    if (verdict === 'deny') return denied(session, turn, call);
    if (verdict === 'ask') return requestApproval(session, deps, turn, call, ask ?? plainAsk(call));
    return run(session, deps, turn, call, {
      ...possible,
      approved: isApproved(judged),
      unasked: ask === null,
    });
  }
  await run(session, deps, turn, call, { ...possible, approved: true, unasked: false });
}

/** For a call that only a rule wants asked. */
const plainAsk = ({ tool, input }: OpenCall): Ask => ({
  kind: 'other',
  command: [tool, JSON.stringify(input)],
  description: `Uses ${tool}.`,
});

async function denied(session: LiveSession, turn: Turn, { call }: OpenCall): Promise<void> {
  const parts = [textPart('A rule of this server does not allow this call.')];
  await recordIn(session, turn.id, [
    { type: 'tool.ended', turn: turn.id, call, outcome: 'denied', parts, durationMs: 0 },
  ]);
}

async function requestApproval(
  session: LiveSession,
  deps: TurnDeps,
  turn: Turn,
  { call, tool, input }: OpenCall,
  wanted: Ask,
): Promise<void> {
  const ask = plainly(wanted);
  const approval = deps.newId() as ApprovalId;
  const hash = approvalHash(tool, input, ask);
  await recordIn(session, turn.id, [
    { type: 'approval.requested', turn: turn.id, call, approval, ask, hash },
  ]);
}

async function run(
  session: LiveSession,
  deps: TurnDeps,
  turn: Turn,
  call: OpenCall,
  runnable: Runnable,
): Promise<void> {
  const { tool, input, approved, unasked } = runnable;
  const signal = session.signal(turn.id);
  if (tool.deferred) return defer(session, deps, turn, call, runnable, signal);
  await recordIn(session, turn.id, [{ type: 'tool.started', turn: turn.id, call: call.call }]);
  if (signal.aborted || session.state.turn?.id !== turn.id || !session.mayDrive()) return;
  const started = deps.now();
  const context = toolContext(session, deps, turn, call, { signal, approved, unasked });
  // A tool that does not listen must not hold the session up.
  const report = (thrown: unknown) => faultOf(thrown, session, turn, call, deps);
  const result = await Promise.race([outcome(tool, input, context, report), aborted(signal)]);
  if (!result || signal.aborted) return;
  const events: DurableEventBody[] = [
    {
      type: 'tool.ended',
      turn: turn.id,
      call: call.call,
      outcome: result.failed ? 'failed' : 'ok',
      parts: cappedParts(result.parts),
      data: cappedData(result.data),
      durationMs: deps.now() - started,
      untrusted: result.untrusted,
      final: result.final,
      notice: result.notice,
    },
  ];
  if (result.handoff) {
    const { id, name } = deps.catalog.agent(result.handoff.agent);
    const { reason } = result.handoff;
    events.push({ type: 'agent.changed', turn: turn.id, from: turn.agent, to: { id, name }, reason });
  }
  await recordIn(session, turn.id, events);
}

/** Hands the call to a client that comes and goes, where it can be carried out at all. */
async function defer(
  session: LiveSession,
  deps: TurnDeps,
  turn: Turn,
  call: OpenCall,
  { tool, input, approved, unasked }: Runnable,
  signal: AbortSignal,
): Promise<void> {
  const report = (thrown: unknown) => faultOf(thrown, session, turn, call, deps);
  const context = toolContext(session, deps, turn, call, { signal, approved, unasked });
  const result = await outcome(tool, input, context, report);
  if (signal.aborted) return;
  if (result.failed) return failed(session, turn, call, textOf(result.parts));
  await recordIn(session, turn.id, [
    { type: 'tool.started', turn: turn.id, call: call.call },
    { type: 'call.deferred', turn: turn.id, call: call.call, notice: result.notice },
  ]);
}

/** A tool that throws has failed: the model is told, the turn goes on. */
async function outcome(
  tool: Tool,
  input: unknown,
  context: ToolContext,
  report: (thrown: unknown) => Fault,
): Promise<ToolResult> {
  try {
    return await tool.run(input, context);
  } catch (thrown) {
    if (context.signal.aborted) return { parts: [], failed: true };
    return { parts: [textPart(report(thrown).message)], failed: true };
  }
}

function faultOf(
  thrown: unknown,
  { ref }: LiveSession,
  { id: turn, via: connection }: Turn,
  { call, tool }: OpenCall,
  { log }: TurnDeps,
): Fault {
  const fault = asFault(thrown);
  if (fault.code === 'internal')
    log.error({ err: fault.cause, tool, call, turn, session: ref.id, connection }, 'tool failed');
  return fault;
}

function aborted(signal: AbortSignal): Promise<null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  if (signal.aborted) resolve(null);
  signal.addEventListener('abort', () => resolve(null), { once: true });
  return promise;
}

function toolContext(
  session: LiveSession,
  deps: TurnDeps,
  turn: Turn,
  call: OpenCall,
  { signal, approved, unasked }: Pick<ToolContext, 'signal' | 'approved' | 'unasked'>,
): ToolContext {
  const { owner, id } = session.ref;
  const execution = stampedId('exec', deps.now(), deps.newId());
  return {
    session: id,
    owner,
    call: call.call,
    root: deps.root,
    signal,
    approved,
    unasked,
    eventsSinceIdle: session.eventsSinceIdle,
    atClient: (request) =>
      deps.clients.dispatch({
        execution,
        owner,
        prefer: turn.via,
        request,
        signal,
        report: (progress, at) =>
          session.publish({ type: 'call.progress', call: call.call, execution: at, ...progress }),
      }),
  };
}

/** The process died while it ran. It is run again only where that cannot matter. */
async function lost(session: LiveSession, deps: TurnDeps, turn: Turn, call: OpenCall): Promise<void> {
  const tool = deps.tools.get(call.tool);
  const parsed = tool?.input.safeParse(call.input);
  if (tool?.repeatable && parsed?.success) {
    return run(session, deps, turn, call, { tool, input: parsed.data, approved: false, unasked: false });
  }
  await recordIn(session, turn.id, [
    unknownOutcome(call, turn.id, 'The server was restarted while this ran.'),
  ]);
}

async function failed(session: LiveSession, turn: Turn, call: OpenCall, message: string): Promise<void> {
  await recordIn(session, turn.id, [
    {
      type: 'tool.ended',
      turn: turn.id,
      call: call.call,
      outcome: 'failed',
      parts: [textPart(message)],
      durationMs: 0,
    },
  ]);
}
