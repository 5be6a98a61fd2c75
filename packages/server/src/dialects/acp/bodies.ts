/** Out: messages that the server sends unrequested. */
import type { ApprovalId, Ask, CallId, JsonObject } from '@parlance/protocol';
import { wholeText } from '../kit/approval-text.ts';
import { callFields, diffsToApprove } from './tool-calls.ts';
import type { CallContent, CallFields, Update } from './updates.ts';

export type PermissionOption = {
  optionId: 'once' | 'always' | 'deny';
  name: string;
  kind: 'allow_once' | 'allow_always' | 'reject_once';
};

export type UpdateBody = {
  jsonrpc: '2.0';
  method: 'session/update';
  /** the number of the event, for a client that reconnects */
  params: { sessionId: string; update: Update; _meta?: { 'parlance/seq': number } };
};

export type PermissionBody = {
  jsonrpc: '2.0';
  /** the id of the approval */
  id: string;
  method: 'session/request_permission';
  params: {
    sessionId: string;
    toolCall: CallFields & { content: CallContent[] };
    options: PermissionOption[];
  };
};

export type WithdrawalBody = {
  jsonrpc: '2.0';
  method: '$/cancel_request';
  params: { requestId: string };
};

export type Body = UpdateBody | PermissionBody | WithdrawalBody;

export const updateBody = (sessionId: string, update: Update, seq?: number): UpdateBody => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId, update, ...(seq !== undefined && { _meta: { 'parlance/seq': seq } }) },
});

type Waiting = {
  readonly approval: ApprovalId;
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  readonly ask: Ask;
};

const ONCE: PermissionOption = { optionId: 'once', name: 'Allow', kind: 'allow_once' };
const ALWAYS: PermissionOption = { optionId: 'always', name: 'Always allow', kind: 'allow_always' };
const DENY: PermissionOption = { optionId: 'deny', name: 'Reject', kind: 'reject_once' };

export function permissionRequest(sessionId: string, waiting: Waiting): PermissionBody {
  const { approval, ask } = waiting;
  const diffs = diffsToApprove(ask, waiting);
  // Editors show title and content, but not all of them the raw input.
  const whole = diffs.length > 0 ? ask.description : wholeText(ask).trimEnd();
  const text = { type: 'content', content: { type: 'text', text: whole } } as const;
  return {
    jsonrpc: '2.0',
    id: approval,
    method: 'session/request_permission',
    params: {
      sessionId,
      toolCall: { ...callFields(waiting), content: [...diffs, text] },
      options: ask.grant === undefined ? [ONCE, DENY] : [ONCE, ALWAYS, DENY],
    },
  };
}

/** The request no longer needs an answer. */
export const withdrawal = (approval: string): WithdrawalBody => ({
  jsonrpc: '2.0',
  method: '$/cancel_request',
  params: { requestId: approval },
});
