/** Server frames and their constructors. */
import { LOCAL, type Principal } from '@parlance/protocol';
import type { ClientProgress, ClientRequest } from '../../core/index.ts';
import { stampedId } from '../kit/ids.ts';

export type Status = 'thinking' | 'searching' | 'analyzing' | 'using_tool' | 'complete' | 'error';
export type ErrorCode = 'INVALID_JSON' | 'INVALID_MESSAGE' | 'UNKNOWN_MESSAGE_TYPE' | 'HANDLER_ERROR';
export type ToolUse = { tool: string; input: string; output: string; executionTime: number };

/** A message without the common fields. */
export type Content =
  | {
      type: 'registration_confirmed';
      clientId: string;
      capabilities: readonly string[];
      serverCapabilities: readonly string[];
      authenticated: boolean;
      permissions: readonly string[];
    }
  | { type: 'pong'; originalTimestamp?: number }
  | { type: 'agent_status'; status: Status; currentTool?: string; message?: string; sessionId: string }
  | {
      type: 'agent_response';
      content: string;
      reasoning?: string;
      sessionId: string;
      toolsUsed: readonly ToolUse[];
    }
  | { type: 'conversation_cleared'; sessionId: string; success: true }
  | {
      type: 'tool_execution_request';
      executionId: string;
      toolName: string;
      parameters: ClientRequest['parameters'];
      timeout: number;
      securityContext: {
        allowedOrigins: readonly string[];
        permissions: readonly string[];
        parameterValidation: ClientRequest['schema'];
      };
    }
  | {
      type: 'tool_execution_status';
      executionId: string;
      status: ClientProgress['status'];
      progress: number;
      statusMessage: string;
      sessionId: string;
    }
  | {
      type: 'error';
      message: string;
      code: ErrorCode;
      details?: string;
      /** in milliseconds, as in errors of clients */
      retryAfter?: number;
      sessionId?: string;
    }
  | { type: 'server_shutdown'; message: string };

export type Body = { id: string; timestamp: number } & Content;

/** `id` is a UUID, which is converted to the format of the contract. */
export const stamped = (content: Content, at: number, id: string): Body => ({
  id: stampedId('msg', at, id),
  timestamp: at,
  ...content,
});

const SERVER_CAPABILITIES = [
  'chat',
  'agent_processing',
  'tool_orchestration',
  'multi_client_support',
  'real_time_status',
];

/** The contract calls the list `capabilities`, existing clients read `serverCapabilities`. */
export const confirmation = (clientId: string, { id, permissions }: Principal): Content => ({
  type: 'registration_confirmed',
  clientId,
  capabilities: SERVER_CAPABILITIES,
  serverCapabilities: SERVER_CAPABILITIES,
  authenticated: id !== LOCAL.id,
  permissions,
});

export type StatusDetails = { readonly message?: string; readonly currentTool?: string };

export const statusContent = (
  sessionId: string,
  status: Status,
  { message, currentTool }: StatusDetails = {},
): Content => ({ type: 'agent_status', status, currentTool, message, sessionId });
