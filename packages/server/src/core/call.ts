/** One call of a turn: is it possible, may it run, what came of it. */
import { type ApprovalId, asFault, type FactBody, type Part, textPart } from '@parlance/protocol';
import { approvalHash, mayRun } from './approvals.ts';
import type { LiveSession } from './live-session.ts';
import type { Tool, ToolContext, ToolResult } from './ports/tool.ts';
import type { OpenCall, Turn } from './session.ts';
import { recordIn, type TurnTools } from './turn.ts';

/** What one call may add to the log and to the prompt, in characters. */
const OUTPUT_LIMIT = 100_000;

/** Brings a call one step further: to its approval, or to its outcome. */
export async function settleCall(
  session: LiveSession,
  tools: TurnTools,
  turn: Turn,
  call: OpenCall,
): Promise<void> {
  if (call.phase === 'running') return lost(session, tools, turn, call);
  const tool = tools.tools.get(call.tool);
  if (!tool) return failed(session, turn, call, `Unknown tool: ${call.tool}`);
  const parsed = tool.input.safeParse(call.input);
  if (!parsed.success)
    return failed(session, turn, call, `The input does not fit: ${parsed.error.issues[0]?.message}`);
  if (call.phase === 'requested' && (await asked(session, tools, turn, call, tool, parsed.data))) return;
  await run(session, tools, turn, call, tool, parsed.data);
}

/** True where a person has to answer first. */
async function asked(
  session: LiveSession,
  tools: TurnTools,
  turn: Turn,
  call: OpenCall,
  tool: Tool,
  input: unknown,
): Promise<boolean> {
  const ask = await tool.approval(input, { root: tools.root });
  if (ask === null || mayRun(tools.approvalMode, ask, session.state.grants)) return false;
  const approval = tools.newId() as ApprovalId;
  const hash = approvalHash(call.tool, call.input, ask);
  await recordIn(session, turn.id, [
    { type: 'approval.requested', turn: turn.id, call: call.call, approval, ask, hash },
  ]);
  return true;
}

async function run(
  session: LiveSession,
  tools: TurnTools,
  turn: Turn,
  call: OpenCall,
  tool: Tool,
  input: unknown,
): Promise<void> {
  const signal = session.signal(turn.id);
  await recordIn(session, turn.id, [{ type: 'tool.started', turn: turn.id, call: call.call }]);
  if (signal.aborted || session.state.turn?.id !== turn.id) return;
  const started = tools.now();
  const result = await outcome(tool, input, toolContext(session, tools, turn, call, signal), tools);
  if (signal.aborted) return;
  const facts: FactBody[] = [
    {
      type: 'tool.ended',
      turn: turn.id,
      call: call.call,
      outcome: result.failed ? 'failed' : 'ok',
      parts: result.parts.map(capped),
      data: result.data,
      durationMs: tools.now() - started,
    },
  ];
  if (result.handoff) {
    const { id, name } = tools.roster.agent(result.handoff.agent);
    const { reason } = result.handoff;
    facts.push({ type: 'agent.changed', turn: turn.id, from: turn.agent, to: { id, name }, reason });
  }
  await recordIn(session, turn.id, facts);
}

/** A tool that throws has failed: the model is told, the turn goes on. */
async function outcome(
  tool: Tool,
  input: unknown,
  context: ToolContext,
  tools: TurnTools,
): Promise<ToolResult> {
  try {
    return await tool.run(input, context);
  } catch (thrown) {
    const fault = asFault(thrown);
    if (fault.code === 'internal') tools.log.error({ err: fault.cause, tool: tool.name }, 'tool failed');
    return { parts: [textPart(fault.message)], failed: true };
  }
}

function toolContext(
  session: LiveSession,
  tools: TurnTools,
  turn: Turn,
  call: OpenCall,
  signal: AbortSignal,
): ToolContext {
  const { owner, id } = session.ref;
  const execution = executionId(tools.now(), tools.newId());
  return {
    session: id,
    owner,
    call: call.call,
    root: tools.root,
    signal,
    atClient: (request) =>
      tools.clients.dispatch({
        execution,
        owner,
        prefer: turn.via,
        request,
        signal,
        report: (progress) =>
          session.publish({ type: 'call.progress', call: call.call, execution, ...progress }),
      }),
  };
}

/** The form that clients of the extension contract expect: exec_<ms>_<9 base36>. */
const executionId = (now: number, id: string): string =>
  `exec_${now}_${BigInt(`0x${id.replaceAll('-', '').slice(-16)}`)
    .toString(36)
    .padStart(9, '0')
    .slice(-9)}`;

/** The process died while it ran. It is run again only where that cannot matter. */
async function lost(session: LiveSession, tools: TurnTools, turn: Turn, call: OpenCall): Promise<void> {
  const tool = tools.tools.get(call.tool);
  const parsed = tool?.input.safeParse(call.input);
  if (tool?.repeatable && parsed?.success) return run(session, tools, turn, call, tool, parsed.data);
  const text =
    'The server was restarted while this ran. The outcome is unknown: it may have happened wholly, in part or not at all. It was not repeated.';
  await recordIn(session, turn.id, [
    {
      type: 'tool.ended',
      turn: turn.id,
      call: call.call,
      outcome: 'unknown',
      parts: [textPart(text)],
      durationMs: 0,
    },
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

function capped(part: Part): Part {
  if (part.type !== 'text' || part.text.length <= OUTPUT_LIMIT) return part;
  const half = OUTPUT_LIMIT / 2;
  const left = part.text.length - OUTPUT_LIMIT;
  return textPart(`${part.text.slice(0, half)}\n… ${left} characters left out …\n${part.text.slice(-half)}`);
}
