/** Plans one call of a turn: whether it is valid, whether it may run, and what the user is asked before. */
import {
  type ApprovalId,
  type ApprovalMode,
  type Ask,
  asFault,
  type Delegation,
  type DurableEventBody,
  Fault,
  type JsonObject,
  type QuestionContent,
  type QuestionId,
  textPart,
  visibleQuestion,
} from '@parlance/protocol';
import type { Tool, ToolContext } from '../ports/tool.ts';
import {
  applyPolicy,
  approvalHash,
  type PolicyInput,
  permissionOf,
  stricter,
  withVisibleText,
} from '../session/approvals.ts';
import { isTainted } from '../session/context.ts';
import type { OpenCall } from '../session/session-state.ts';
import { unknownOutcome } from '../session/turn-events.ts';
import { offeredTo } from './model-step.ts';
import type { Session } from './session.ts';
import { folderOf, type SessionFolder, withFolder } from './session-folder.ts';
import type { ActiveTurn, TurnDeps } from './turn-deps.ts';

/** A valid call that may run. */
export type Runnable = {
  readonly tool: Tool;
  readonly input: unknown;
  /** the sub-agent that works for the call */
  readonly child?: Delegation;
} & Pick<ToolContext, 'permission'>;

/** What the agent of the turn is offered; of a sub-agent, at most what its parent has. */
function offeredToSession({ deps, turn, session }: ActiveTurn): ReadonlyMap<string, Tool> {
  const offered = offeredTo(deps, turn.agent.id, turn.terms, session.state.created?.parent?.tools);
  if (!isDirect(turn)) return offered;
  return new Map([...offered, ...[...deps.tools].filter(([, { onlyDirect }]) => onlyDirect)]);
}

/** Whether the turn is a call of the user, without the model. */
const isDirect = ({ steps, answered }: ActiveTurn['turn']): boolean => steps === 0 && answered;

type PossibleCall = ReturnType<typeof possibleCall>;

/** `alone`: no other call of the turn may run at the same time. */
export type CallPlan =
  | { readonly kind: 'run'; readonly runnable: Runnable; readonly alone: boolean }
  | { readonly kind: 'ask'; readonly ask: Ask }
  /** the call is a question to the user */
  | { readonly kind: 'question'; readonly question: QuestionContent }
  /** ends without running */
  | { readonly kind: 'end'; readonly event: DurableEventBody };

/** Decides how a requested or approved call continues. Has no side effects. */
export async function planCall(active: ActiveTurn, call: OpenCall): Promise<CallPlan> {
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
      tainted = !isDirect(turn) && isTainted(await session.context(), call.call);
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
        ask: withVisibleText(withFolder(ask ?? defaultAsk(call, input), folder, deps)),
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
export function planInterrupted(
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

// Calls that end without running.
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
