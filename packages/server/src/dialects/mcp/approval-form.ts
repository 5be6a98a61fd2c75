/** Approvals as forms that a client shows to its user, and their answers. */
import type { ApprovalId } from '@parlance/protocol';
import { z } from 'zod';
import type { PendingApproval } from '../../core/index.ts';
import { wholeText } from '../kit/approval-text.ts';
import type { Params, RpcId } from '../kit/json-rpc.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    answer: {
      type: 'string',
      title: 'Answer',
      description:
        'once: allow this call; always: allow such calls in this session from now on; deny: do not run it',
      enum: ['once', 'always', 'deny'],
    },
  },
  required: ['answer'],
} as const;

/** The parameters of `elicitation/create`. The mode was added in 2025-11-25. */
export const formOf = ({ tool, ask }: PendingApproval, version: string) => ({
  ...(version >= '2025-11-25' && { mode: 'form' }),
  message: `Approval for the tool ${tool}: ${wholeText(ask)}`.trimEnd(),
  requestedSchema: SCHEMA,
});

// Ids of requests to the client

/** Contains the approval, so that an answer is understood after a restart and on another node. */
export const formId = (approval: ApprovalId, unique: string): string => `${approval}/${unique}`;

export const approvalIn = (id: RpcId): ApprovalId => String(id).split('/', 1)[0] as ApprovalId;

// Answers

const Accepted = z.object({
  action: z.literal('accept'),
  content: z.object({ answer: z.enum(['once', 'always', 'deny']) }),
});

/** Anything but a clear permission is a denial. */
export function answerIn(result: Params): 'once' | 'always' | 'deny' {
  const accepted = Accepted.safeParse(result);
  return accepted.success ? accepted.data.content.answer : 'deny';
}
