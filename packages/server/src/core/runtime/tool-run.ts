/** Runs the tool of an approved call. */
import { asFault, type DurableEventBody, type Fault, textOf, textPart } from '@parlance/protocol';
import type { OpenCall } from '../domain/session-state.ts';
import { unknownOutcome } from '../domain/turn-events.ts';
import { OutcomeUnknown } from '../ports/client-tools.ts';
import type { Tool, ToolContext, ToolResult } from '../ports/tool.ts';
import type { ActiveTurn } from './active-turn.ts';
import { cappedData, cappedParts } from './output.ts';
import { folderOf } from './session-folder.ts';

export type Runnable = { readonly tool: Tool; readonly input: unknown } & Pick<ToolContext, 'permission'>;

/** Runs a call whose `tool.started` is stored. Returns the events that end it, or null if it was stopped. */
export async function runTool(
  active: ActiveTurn,
  call: OpenCall,
  runnable: Runnable,
): Promise<DurableEventBody[] | null> {
  const { session, deps, turn, signal } = active;
  if (signal.aborted || session.state.turn?.id !== turn.id || !session.role.isDriver) return null;
  const startedAt = deps.now();
  // A tool that ignores its signal must not block the session.
  const result = await Promise.race([toolResult(active, call, runnable), aborted(signal)]);
  if (!result || signal.aborted) return null;
  if (result instanceof OutcomeUnknown) return [unknownOutcome(call, turn.id, result.message)];
  const durationMs = deps.now() - startedAt;
  return [toolEnded(active, call, { result, durationMs }), ...handoff(active, result)];
}

/** The events that defer a valid call to a client that may be disconnected. */
export async function deferCall(
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
export const callFailed = ({ turn }: ActiveTurn, { call }: OpenCall, message: string): DurableEventBody => ({
  type: 'tool.ended',
  turn: turn.id,
  call,
  outcome: 'failed',
  parts: [textPart(message)],
  durationMs: 0,
});

/** The fault that the model receives. Logs internal errors. */
export function toolFault(
  { session, deps, turn }: ActiveTurn,
  { call, tool }: OpenCall,
  thrown: unknown,
): Fault {
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
): Promise<ToolResult | OutcomeUnknown> {
  try {
    const folder = folderOf(active.session, active.deps);
    const { root } = folder instanceof Promise ? await folder : folder;
    return await runnable.tool.run(runnable.input, { ...toolContext(active, call, runnable), root });
  } catch (thrown) {
    if (active.signal.aborted) return { parts: [], failed: true };
    if (thrown instanceof OutcomeUnknown) return thrown;
    return { parts: [textPart(toolFault(active, call, thrown).message)], failed: true };
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
  { result, durationMs }: { readonly result: ToolResult; readonly durationMs: number },
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
});

function handoff({ deps, turn }: ActiveTurn, result: ToolResult): DurableEventBody[] {
  if (!result.handoff) return [];
  const { id, name } = deps.catalog.agent(result.handoff.agent);
  const { reason } = result.handoff;
  return [{ type: 'agent.changed', turn: turn.id, from: turn.agent, to: { id, name }, reason }];
}

function toolContext(
  { session, deps, turn, signal }: ActiveTurn,
  { call }: OpenCall,
  { permission }: Runnable,
): Omit<ToolContext, 'root'> {
  const { owner, id } = session.ref;
  const run = { at: deps.now(), id: deps.newId() };
  return {
    session: id,
    owner,
    call,
    signal,
    permission,
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
  };
}
