/** Plans one call of a turn: whether it is valid, and whether it may run. */
import { type ApprovalId, type Ask, type DurableEventBody, textPart } from '@parlance/protocol';
import {
  applyPolicy,
  approvalHash,
  type PolicyInput,
  permissionOf,
  withVisibleText,
} from '../domain/approvals.ts';
import { isTainted } from '../domain/context.ts';
import type { OpenCall } from '../domain/session-state.ts';
import { unknownOutcome } from '../domain/turn-events.ts';
import type { ActiveTurn } from './active-turn.ts';
import { offeredTo } from './prompt.ts';
import { folderOf, type SessionFolder, withFolder } from './session-folder.ts';
import { possibleCall } from './tool-input.ts';
import { callFailed, type Runnable, toolFault } from './tool-run.ts';

type PossibleCall = ReturnType<typeof possibleCall>;

/** `alone`: no other call of the turn may run at the same time. */
export type CallPlan =
  | { readonly kind: 'run'; readonly runnable: Runnable; readonly alone: boolean }
  | { readonly kind: 'ask'; readonly ask: Ask }
  /** ends without running */
  | { readonly kind: 'end'; readonly event: DurableEventBody };

/** Decides how a requested or approved call continues. Has no side effects. */
export async function planCall(active: ActiveTurn, call: OpenCall): Promise<CallPlan> {
  if (call.malformed !== undefined) {
    const message = `The arguments are not a JSON object: ${call.malformed.slice(0, 200)}`;
    return { kind: 'end', event: callFailed(active, call, message) };
  }
  const { deps, turn, session } = active;
  let possible: PossibleCall;
  let ask: Ask | null = null;
  let folder: SessionFolder;
  let tainted = false;
  try {
    possible = possibleCall(offeredTo(deps, turn.agent.id, turn.terms), call.tool, call.input);
    folder = await folderOf(session, deps);
    if (call.phase === 'requested') {
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
  if (call.phase !== 'requested')
    return { kind: 'run', runnable: { ...possible, permission: 'approved' }, alone };
  const input = policyInput(active, call, { ...possible, ask, tainted, folder });
  switch (applyPolicy(input)) {
    case 'deny':
      return { kind: 'end', event: callDenied(active, call) };
    case 'ask':
      return {
        kind: 'ask',
        ask: withVisibleText(withFolder(ask ?? defaultAsk(call, input), folder.root, deps)),
      };
    case 'run':
      return { kind: 'run', runnable: { ...possible, permission: permissionOf(input) }, alone };
  }
}

/**
 * Plans a call that ran when the process ended. Runs it again only if it is repeatable and its tool has not changed since;
 * otherwise its outcome is unknown.
 */
export function planInterrupted(
  { deps, turn }: ActiveTurn,
  call: Extract<OpenCall, { phase: 'running' }>,
): CallPlan {
  const tool = deps.tools.get(call.tool);
  const parsed = tool?.input.safeParse(call.input);
  if (tool?.repeatable && tool.definition === call.definition && parsed?.success) {
    const runnable = { tool, input: parsed.data, permission: 'mode' } as const;
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
  const { approvalMode, grants } = session.state;
  const mode = approvalMode ?? deps.catalog.agent(turn.agent.id).approval ?? deps.approvalMode;
  return {
    tools: [call.tool, ...(tool.ruledAs?.(input) ?? [])],
    mode: mode === 'full-auto' && deps.fullAutoProblem !== null ? 'suggest' : mode,
    rules: deps.rules ?? [],
    ask,
    subjects: tool.subjects?.(input, folder.inServer) ?? { literal: [JSON.stringify(call.input)] },
    grants,
    tainted,
    sends: tool.sends?.(input, session) ?? false,
  };
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

export const approvalRequested = (
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
