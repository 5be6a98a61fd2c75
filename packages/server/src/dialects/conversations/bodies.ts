/** Constructors of server frames. */
import { type AgentRef, type JsonObject, visibleJson } from '@parlance/protocol';
import type { PendingApproval } from '../../core/index.ts';
import type { Body, ErrorCode, Measures } from './contract.ts';

/** The conversation that a message belongs to. */
export function conversationOf(body: Body): string | undefined {
  if (body.type === 'PONG') return undefined;
  return body.type === 'conversation_started' ? body.payload.conversationId : body.conversationId;
}

/** The agent and the conversation, which every frame of a stream contains. */
type Sender = { readonly conversationId: string; readonly agent: AgentRef };

const agentFields = ({ id, name }: AgentRef) => ({ agentId: id, agentName: name });

export const agentSelected = ({ conversationId, agent }: Sender): Body => ({
  type: 'agent_selected',
  conversationId,
  agent_id: agent.id,
  agent_name: agent.name,
});

export const stepStart = ({ conversationId, agent }: Sender, at: number): Body => ({
  type: 'workflow_step_start',
  conversationId,
  payload: { ...agentFields(agent), timestamp: new Date(at).toISOString() },
});

export const stepComplete = ({ conversationId, agent }: Sender, measures: Measures): Body => ({
  type: 'workflow_step_complete',
  conversationId,
  payload: { ...agentFields(agent), ...measures },
});

export const handoff = ({ conversationId, agent: to }: Sender, from: AgentRef, reason: string): Body => ({
  type: 'workflow_handoff',
  conversationId,
  payload: { fromAgent: from.name, toAgent: to.name, fromAgentId: from.id, toAgentId: to.id, reason },
});

export const thought = ({ conversationId, agent }: Sender, reason: string): Body => ({
  type: 'workflow_thought',
  conversationId,
  payload: { ...agentFields(agent), reason },
});

/**
 * An extension of the contract: everything sent under this id is discarded, and the answer continues under
 * another id.
 */
export const messageDiscarded = ({ conversationId }: Sender, messageId: string, reason: string): Body => ({
  type: 'message_discarded',
  conversationId,
  payload: { messageId, reason },
});

export const chunk = ({ conversationId, agent }: Sender, messageId: string, text: string): Body => ({
  type: 'message_chunk',
  conversationId,
  payload: { messageId, chunk: text, agentName: agent.name },
});

export type Answer = {
  readonly messageId: string;
  readonly content: string;
  readonly metadata: Measures;
};

export const messageComplete = (
  { conversationId, agent }: Sender,
  { messageId, content, metadata }: Answer,
): Body => ({
  type: 'message_complete',
  conversationId,
  payload: { messageId, content, ...agentFields(agent), metadata },
});

/** Shown to the person who approves the call: nothing may be hidden in them. */
const shownArguments = (input: JsonObject): JsonObject => visibleJson(input) as JsonObject;

export const approvalRequired = (
  { conversationId, agent }: Sender,
  { approval, tool, input, ask }: Pick<PendingApproval, 'approval' | 'tool' | 'input' | 'ask'>,
): Body => ({
  type: 'tool_approval_required',
  conversationId,
  payload: {
    requestId: approval,
    toolName: tool,
    toolArgs: shownArguments(input),
    description: ask.description,
    agentName: agent.name,
  },
});

export const toolExecuted = (
  { conversationId }: Sender,
  payload: Extract<Body, { type: 'tool_executed' }>['payload'],
): Body => ({ type: 'tool_executed', conversationId, payload });

export type ErrorDetails = {
  /** absent if the error does not concern a conversation */
  readonly conversationId?: string;
  /** in seconds */
  readonly retryAfter?: number;
};

export const errorBody = (
  code: ErrorCode,
  message: string,
  { conversationId, ...retry }: ErrorDetails = {},
): Body => ({
  type: 'error',
  ...(conversationId === undefined ? {} : { conversationId }),
  error: message,
  payload: { code, message, error: message, ...retry },
});
