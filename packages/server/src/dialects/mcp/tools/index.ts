/** The tools, in the order in which they are listed. */

import { type ApprovalId, type DurableEvent, Fault, type TurnId, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { followTurn } from '../follow-turn.ts';
import { latestMessages, transcript } from '../messages.ts';
import { titleOf } from '../resources.ts';
import { ApprovalView, approvalView, TurnView } from '../turn-result.ts';
import { continued } from './continued.ts';
import { dataResult, defineTool, type Tool } from './tool.ts';

const sendMessage = defineTool({
  name: 'send_message',
  title: 'Send a message',
  description:
    'Sends a message to a Parlance agent and returns its answer. Creates a session if none is given; pass the session of the result to continue it. If the status is `waiting`, ask the user and answer with answer_approval. If it is `running`, the agent is still working: read its answer later with read_session.',
  input: z.object({
    text: z.string().describe('the message'),
    session: z.string().optional().describe('the session to continue; it is created if it does not exist'),
    agent: z.string().optional().describe('id of the agent that answers; default: that of the session'),
  }),
  output: TurnView,
  isLong: true,
  async run(ctx, call, { text, session, agent }) {
    const { engine, newId } = ctx;
    const { principal } = call;
    const earlier = await continued(ctx, call);
    if (earlier) return followTurn(ctx, call, earlier);
    const ref = await engine.resolve(principal, session ?? newId());
    const turn = newId() as TurnId;
    const { seq: after } = await engine.snapshot(ref);
    const command = { type: 'input.submit' as const, parts: [textPart(text)], agent, answeredBy: agent };
    await engine.send(ref, command, { principal, dialect: 'mcp', turn });
    return followTurn(ctx, call, { ref, turn, after });
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
  async run({ engine }, { principal }, { session, limit }) {
    const ref = await engine.find(principal, session);
    const record = ref && (await engine.record(ref));
    if (!record) throw new Fault('not_found', 'There is no such session.');
    const messages = await latestMessages(engine, record, limit);
    return dataResult({ messages }, transcript(messages) || 'The session has no messages.');
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
  async run({ engine }, { principal }, { limit, cursor }) {
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

const MAX_APPROVALS = 100;

const listApprovals = defineTool({
  name: 'list_approvals',
  title: 'List approvals',
  description: 'Lists the tool calls that wait for approval in all sessions of the user.',
  input: z.object({}),
  output: z.object({ approvals: z.array(ApprovalView.extend({ session: z.string() })) }),
  readOnly: true,
  async run({ engine }, { principal }) {
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

const cancelTurn = defineTool({
  name: 'cancel_turn',
  title: 'Cancel a turn',
  description: 'Stops the agent in a session. Text that it has already written is kept.',
  input: z.object({ session: z.string().describe('id of the session') }),
  output: z.object({ session: z.string(), status: z.literal('cancelled') }),
  async run({ engine }, { principal }, { session }) {
    const ref = await engine.find(principal, session);
    if (!ref) throw new Fault('not_found', 'There is no such session.');
    await engine.send(ref, { type: 'turn.cancel' }, { principal, dialect: 'mcp' });
    return dataResult({ session: ref.id, status: 'cancelled' }, 'The turn was cancelled.');
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
  isLong: true,
  async run(ctx, call, { approval, answer, reason }) {
    const { engine } = ctx;
    const { principal } = call;
    const earlier = await continued(ctx, call);
    if (earlier) return followTurn(ctx, call, earlier);
    const id = approval as ApprovalId;
    const ref = await engine.lookup(principal, { kind: 'approval', id });
    if (!ref) throw new Fault('not_found', 'There is no such approval.');
    const caller = { principal, dialect: 'mcp' };
    const { events } = await engine.send(
      ref,
      { type: 'approval.answer', approval: id, answer, reason },
      caller,
    );
    const answered = events.find(
      (event): event is DurableEvent<'approval.answered'> => event.type === 'approval.answered',
    );
    if (!answered) throw new Error('an approval was answered without an event');
    return followTurn(ctx, call, { ref, turn: answered.turn, after: answered.seq });
  },
});

export const TOOLS: readonly Tool[] = [
  sendMessage,
  answerApproval,
  listApprovals,
  listSessions,
  readSession,
  cancelTurn,
];

export const toolNamed = (name: unknown): Tool | undefined => TOOLS.find((tool) => tool.name === name);
