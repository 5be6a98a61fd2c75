/** The tools, and `tools/call`. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import {
  type ApprovalId,
  type DurableEvent,
  Fault,
  isObject,
  type JsonObject,
  type Principal,
  TurnId,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import type { Engine } from '../../core/index.ts';
import { reported } from '../kit/dialect.ts';
import { retryText } from '../kit/faults.ts';
import { invalidParams, type Params, RequestId, RpcFault } from '../kit/json-rpc.ts';
import type { Context } from './clients.ts';
import { attachCall, type CustomCaller, customTools, startCustomCall } from './custom.ts';
import {
  ApprovalView,
  answerForm,
  approvalView,
  CALL_CANCELLED,
  type CallStream,
  decodeState,
  type FollowedTurn,
  followTurn,
  type ToolCall,
  TurnView,
} from './follow-turn.ts';
import { latestMessages, titleOf, transcript } from './resources.ts';

type ToolView = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly readOnly?: boolean;
};

/** A `Fault` becomes a result with `isError`. */
type ToolRun<Args> =
  | { run(engine: Engine, principal: Principal, args: Args): Promise<CallToolResult> }
  /** Starts or continues a turn: its outcome is the result, so the call may take long. */
  | { start(ctx: Context, principal: Principal, args: Args): Promise<FollowedTurn> };

type Tool = ToolView & ToolRun<never>;

/** Gives `run` and `start` the type of the arguments. */
const defineTool = <Input extends z.ZodObject>(
  tool: ToolView & { readonly input: Input } & ToolRun<z.output<Input>>,
): Tool => tool;

/** A result with structured data, and a text for clients without support for it. */
const dataResult = (structuredContent: Params, text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent,
});

const errorResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });

/** Throws if the session does not exist or belongs to another user. */
async function sessionNamed(engine: Engine, principal: Principal, session: string) {
  const ref = await engine.find(principal, session);
  if (!ref) throw new Fault('not_found', 'There is no such session.');
  return ref;
}

const sendMessage = defineTool({
  name: 'send_message',
  title: 'Send a message',
  description:
    'Sends a message to a Parlance agent and returns its answer. Creates a session if none is given; pass the session of the result to continue it. If the status is `waiting`, ask the user, and answer with answer_approval, or a question with send_message. If it is `running`, the agent is still working: read its answer later with read_session.',
  input: z.object({
    text: z.string().describe('the message'),
    session: z.string().optional().describe('the session to continue; it is created if it does not exist'),
    agent: z.string().optional().describe('id of the agent that answers; default: that of the session'),
  }),
  output: TurnView,
  async start({ engine, newId }, principal, { text, session, agent }) {
    const ref = await engine.resolve(principal, session ?? newId());
    const turn = TurnId.parse(newId());
    const { seq: after } = await engine.snapshot(ref);
    const command = {
      type: 'input.submit' as const,
      answers: true,
      parts: [textPart(text)],
      agent,
      answeredBy: agent,
    };
    const { events } = await engine.send(ref, command, { principal, dialect: 'mcp', turn });
    const accepted = events.find((event) => event.type === 'input.accepted');
    // A message that answers a question continues the turn that has asked.
    return { ref, turn: accepted?.joins ?? turn, after };
  },
});

const answerApproval = defineTool({
  name: 'answer_approval',
  title: 'Answer an approval',
  description:
    'Allows or denies a tool call that waits for approval, and returns the rest of the answer. Ask the user first: the call has effects on their machine.',
  input: z.object({
    approval: z.string().describe('id of the approval'),
    answer: z
      .enum(['once', 'always', 'deny'])
      .describe('always: allows such calls in this session from now on'),
    reason: z.string().max(10_000).optional().describe('why it is denied, for the agent'),
  }),
  output: TurnView,
  async start({ engine }, principal, { approval, answer, reason }) {
    const id = approval as ApprovalId;
    const ref = await engine.lookup(principal, { kind: 'approval', id });
    if (!ref) throw new Fault('not_found', 'There is no such approval.');
    const command = { type: 'approval.answer', approval: id, answer, reason } as const;
    const { events } = await engine.send(ref, command, { principal, dialect: 'mcp' });
    const answered = events.find(
      (event): event is DurableEvent<'approval.answered'> => event.type === 'approval.answered',
    );
    if (!answered) throw new Error('an approval was answered without an event');
    return { ref, turn: answered.turn, after: answered.seq };
  },
});

const MAX_APPROVALS = 100;

const listApprovals = defineTool({
  name: 'list_approvals',
  title: 'List approvals',
  description: 'Lists the tool calls that wait for approval in all sessions of the user.',
  input: z.object({}),
  output: z.object({ approvals: z.array(ApprovalView.extend({ session: z.string() })) }),
  readOnly: true,
  async run(engine, principal) {
    const { waiting } = await engine.approvals(principal, { limit: MAX_APPROVALS });
    const approvals = waiting.flatMap(({ ref, approvals }) =>
      approvals.map((pending) => ({ ...approvalView(pending), session: ref.id })),
    );
    const lines = approvals.map(
      ({ id, session, tool, description }) => `${id} (session ${session}) ${tool}: ${description}`,
    );
    return dataResult({ approvals }, lines.join('\n') || 'No approvals are waiting.');
  },
});

const listSessions = defineTool({
  name: 'list_sessions',
  title: 'List sessions',
  description: 'Lists the sessions of the user, most recently changed first.',
  input: z.object({
    limit: z.int().min(1).max(100).default(20).describe('maximum number of sessions'),
    cursor: z.string().optional().describe('`next` of the previous page'),
  }),
  output: z.object({
    sessions: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        status: z.enum(['idle', 'running', 'waiting', 'failed']),
        updatedAt: z.string().describe('ISO 8601'),
      }),
    ),
    next: z.string().optional().describe('cursor of the next page; absent on the last'),
  }),
  readOnly: true,
  async run(engine, principal, { limit, cursor }) {
    const page = await engine.list(principal, { limit, cursor });
    const sessions = page.sessions.map((record) => ({
      id: record.ref.id,
      title: titleOf(record),
      status: record.status,
      updatedAt: new Date(record.updatedAt).toISOString(),
    }));
    const lines = sessions.map(
      ({ id, title, status, updatedAt }) => `${id} (${status}, ${updatedAt}) ${title}`,
    );
    return dataResult(
      { sessions, ...(page.next && { next: page.next }) },
      lines.join('\n') || 'There are no sessions.',
    );
  },
});

const readSession = defineTool({
  name: 'read_session',
  title: 'Read a session',
  description: 'Returns the latest messages of a session, oldest first.',
  input: z.object({
    session: z.string().describe('id of the session'),
    limit: z.int().min(1).max(500).default(50).describe('maximum number of messages'),
  }),
  output: z.object({
    messages: z.array(
      z.object({
        role: z.enum(['user', 'assistant']),
        text: z.string(),
        at: z.string().describe('ISO 8601'),
      }),
    ),
  }),
  readOnly: true,
  async run(engine, principal, { session, limit }) {
    const record = await engine.record(await sessionNamed(engine, principal, session));
    if (!record) throw new Fault('not_found', 'There is no such session.');
    const messages = await latestMessages(engine, record, limit);
    return dataResult({ messages }, transcript(messages) || 'The session has no messages.');
  },
});

const cancelTurn = defineTool({
  name: 'cancel_turn',
  title: 'Cancel a turn',
  description: 'Stops the agent in a session. Text that it has already written is kept.',
  input: z.object({ session: z.string().describe('id of the session') }),
  output: z.object({ session: z.string(), status: z.literal('cancelled') }),
  async run(engine, principal, { session }) {
    const ref = await sessionNamed(engine, principal, session);
    await engine.send(ref, { type: 'turn.cancel' }, { principal, dialect: 'mcp' });
    return dataResult({ session: ref.id, status: 'cancelled' }, 'The turn was cancelled.');
  },
});

/** in the order in which they are listed */
const TOOLS: readonly Tool[] = [
  sendMessage,
  answerApproval,
  listApprovals,
  listSessions,
  readSession,
  cancelTurn,
];

export const listTools = (ctx: Context, from: CustomCaller) => ({
  tools: [
    ...TOOLS.map(viewOf),
    ...customTools(ctx, from).map(({ name, title, description, parameters }) => ({
      name,
      ...(title !== undefined && { title }),
      description,
      inputSchema: parameters,
    })),
  ],
});

const viewOf = ({ name, title, description, input, output, readOnly = false }: Tool) => ({
  name,
  title,
  description,
  inputSchema: z.toJSONSchema(input, { io: 'input' }),
  outputSchema: z.toJSONSchema(output),
  annotations: { title, readOnlyHint: readOnly },
});

// Calls

const toolNamed = (name: unknown): Tool | undefined => TOOLS.find((tool) => tool.name === name);

/** Whether the call may take as long as a turn. */
export const isLongCall = (ctx: Context, from: CustomCaller, method: string, params: Params): boolean => {
  if (method !== 'tools/call') return false;
  const tool = toolNamed(params.name);
  return tool ? 'start' in tool : isCustom(ctx, from, params.name);
};

const isCustom = (ctx: Context, from: CustomCaller, name: unknown): boolean =>
  customTools(ctx, from).some((tool) => tool.name === name);

/** Who calls, and how the call is answered. */
export type CallSource = CustomCaller & {
  readonly stream: CallStream | null;
  /** aborted when the client disconnects */
  readonly gone: AbortSignal;
};

/** Throws a `RpcFault` if the tool does not exist. Other failures are reported in the result. */
export async function callTool(
  ctx: Context,
  { gone, ...from }: CallSource,
  { id, params }: { readonly id: RequestId; readonly params: Params },
): Promise<object> {
  const tool = toolNamed(params.name);
  if (!tool) return callOwn(ctx, { gone, ...from }, { id, params });
  const args = tool.input.safeParse(params.arguments ?? {});
  if (!args.success) {
    const [issue] = args.error.issues;
    return errorResult(`${issue?.path.join('.') || 'arguments'}: ${issue?.message}`);
  }
  const until = ctx.now() + ctx.settings.toolCallWithin;
  const { principal } = from;
  return runCancellable(ctx, { ...from, id, until, progressToken: tokenOf(params) }, gone, async (call) => {
    if ('run' in tool) return tool.run(ctx.engine, principal, args.data as never);
    const earlier = await continued(ctx, principal, params);
    return followTurn(ctx, call, earlier ?? (await tool.start(ctx, principal, args.data as never)));
  });
}

const tokenOf = (params: Params): RequestId | undefined =>
  RequestId.safeParse(isObject(params._meta) ? params._meta.progressToken : undefined).data;

/** A tool of the operator. Throws a `RpcFault` if there is none with that name. */
async function callOwn(
  ctx: Context,
  { gone, ...from }: CallSource,
  { id, params }: { readonly id: RequestId; readonly params: Params },
): Promise<object> {
  const name = String(params.name).slice(0, 200);
  if (!isCustom(ctx, from, params.name)) throw invalidParams(`Unknown tool: ${name}`);
  const until = ctx.now() + ctx.settings.toolCallWithin;
  // Progress is what the tool reports.
  const call = { ...from, id, until, progressToken: undefined };
  return runCancellable(ctx, call, gone, async (one) => {
    const custom = { stream: one.stream, progressToken: tokenOf(params) };
    const earlier = await continued(ctx, from.principal, params);
    if (earlier) attachCall(ctx, earlier, custom);
    return followTurn(
      ctx,
      one,
      earlier ?? (await startCustomCall(ctx, from, name, { ...custom, params })),
      'call',
    );
  });
}

/**
 * Since 2026-07-28 a client that was asked for input repeats the call of the tool, with the answers: passes them to the core,
 * and returns the turn that the earlier call followed. Null if there was none.
 */
async function continued(ctx: Context, principal: Principal, params: Params): Promise<FollowedTurn | null> {
  const { requestState, inputResponses } = params;
  if (typeof requestState !== 'string') return null;
  const decoded = await decodeState(ctx.engine, principal, requestState);
  if (!decoded) throw invalidParams('The requestState is not one of this server.');
  const asked = ctx.clients.asked(decoded.followed.ref.id);
  for (const [name, response] of Object.entries(isObject(inputResponses) ? inputResponses : {})) {
    const request = asked.find((one) => one.name === name);
    if (!request) await answerForm(ctx, principal, name, response);
    else if (isObject(response))
      ctx.clients.tell({
        type: 'replied',
        principal: principal.id,
        id: request.id,
        result: response as JsonObject,
      });
  }
  return decoded.followed;
}

/** The server closes the stream: the call is answered with the state of the turn, which continues. */
export const SERVER_CLOSES = Symbol('server closes');

/** Runs the call so that the client can cancel it. */
export async function runCancellable(
  ctx: Context,
  call: Omit<ToolCall, 'signal'>,
  gone: AbortSignal,
  run: (call: ToolCall) => Promise<object>,
): Promise<object> {
  const { principal, peer, id } = call;
  const abort = new AbortController();
  // Since 2026-07-28 a disconnect cancels the call.
  const leave = () =>
    abort.abort(peer.era === 'modern' && gone.reason !== SERVER_CLOSES ? CALL_CANCELLED : 'gone');
  if (gone.aborted) leave();
  gone.addEventListener('abort', leave);
  const key = { principal: principal.id, session: peer.session, request: id };
  const remove = ctx.clients.addCall(key, () => abort.abort(CALL_CANCELLED));
  try {
    return await run({ ...call, signal: abort.signal });
  } catch (thrown) {
    if (thrown instanceof RpcFault) throw thrown;
    return errorResult(retryText(reported(thrown, ctx, {})));
  } finally {
    remove();
    gone.removeEventListener('abort', leave);
  }
}
