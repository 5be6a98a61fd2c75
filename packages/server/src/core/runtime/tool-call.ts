/** One call of a turn: whether it is possible, whether it may run, and how it goes on. */
import { type ApprovalId, type Ask, textPart } from '@parlance/protocol';
import { approvalHash, type Judged, judge, permissionOf, plainly } from '../domain/approvals.ts';
import type { OpenCall } from '../domain/session-state.ts';
import { unknownOutcome } from '../domain/turn-events.ts';
import { type ActiveTurn, record } from './active-turn.ts';
import { offeredTo } from './prompt.ts';
import { possibleCall } from './tool-input.ts';
import { failCall, runTool, toolFault } from './tool-run.ts';

type Possible = ReturnType<typeof possibleCall>;

/** Brings a call one step further: to its approval, or to its outcome. */
export async function settleCall(active: ActiveTurn, call: OpenCall): Promise<void> {
  if (call.phase === 'running') return settleInterrupted(active, call);
  if (call.malformed !== undefined)
    return failCall(active, call, `The arguments are not a JSON object: ${call.malformed.slice(0, 200)}`);
  const { deps, turn } = active;
  let possible: Possible;
  let ask: Ask | null = null;
  try {
    possible = possibleCall(offeredTo(deps, turn.agent.id), call.tool, call.input);
    if (call.phase === 'requested') ask = await possible.tool.approval(possible.input, { root: deps.root });
  } catch (thrown) {
    return failCall(active, call, toolFault(active, call, thrown).message);
  }
  if (call.phase !== 'requested') return runTool(active, call, { ...possible, permission: 'approved' });
  const judged = judgedCall(active, call, { ...possible, ask });
  switch (judge(judged)) {
    case 'deny':
      return denyCall(active, call);
    case 'ask':
      return requestApproval(active, call, ask ?? plainAsk(call));
    case 'run':
      return runTool(active, call, { ...possible, permission: permissionOf(judged) });
  }
}

function judgedCall(
  { session, deps, turn }: ActiveTurn,
  call: OpenCall,
  { tool, input, ask }: Possible & { readonly ask: Ask | null },
): Judged {
  const { approvalMode, grants } = session.state;
  return {
    tools: [call.tool, ...(tool.ruledAs?.(input) ?? [])],
    mode: approvalMode ?? deps.catalog.agent(turn.agent.id).approval ?? deps.approvalMode,
    rules: deps.rules ?? [],
    ask,
    subjects: tool.subjects?.(input) ?? { literal: [JSON.stringify(call.input)] },
    grants,
    tainted: session.state.turn?.tainted ?? false,
  };
}

/** For a call that asks only because of a rule. */
const plainAsk = ({ tool, input }: OpenCall): Ask => ({
  kind: 'other',
  command: [tool, JSON.stringify(input)],
  description: `Uses ${tool}.`,
});

async function denyCall(active: ActiveTurn, { call }: OpenCall): Promise<void> {
  const parts = [textPart('A rule of this server does not allow this call.')];
  await record(active, [
    { type: 'tool.ended', turn: active.turn.id, call, outcome: 'denied', parts, durationMs: 0 },
  ]);
}

async function requestApproval(
  active: ActiveTurn,
  { call, tool, input }: OpenCall,
  wanted: Ask,
): Promise<void> {
  const ask = plainly(wanted);
  const approval = active.deps.newId() as ApprovalId;
  const hash = approvalHash(tool, input, ask);
  await record(active, [{ type: 'approval.requested', turn: active.turn.id, call, approval, ask, hash }]);
}

/** The process ended while the call ran. It runs again only if it is repeatable; otherwise its outcome is unknown. */
async function settleInterrupted(active: ActiveTurn, call: OpenCall): Promise<void> {
  const tool = active.deps.tools.get(call.tool);
  const parsed = tool?.input.safeParse(call.input);
  if (tool?.repeatable && parsed?.success)
    return runTool(active, call, { tool, input: parsed.data, permission: 'mode' });
  await record(active, [unknownOutcome(call, active.turn.id, 'The server was restarted while this ran.')]);
}
