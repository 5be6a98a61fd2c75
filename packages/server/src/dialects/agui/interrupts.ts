/** Approvals as interrupts, and entries of `resume` as answers to them. */
import { type ApprovalAnswer, Fault } from '@parlance/protocol';
import { z } from 'zod';
import type { PendingApproval } from '../../core/index.ts';
import type { Interrupt } from './events.ts';
import type { ResumeEntry } from './schemas.ts';

export const Payload = z.object({
  approved: z.boolean(),
  always: z.boolean().optional(),
  reason: z.string().max(10_000).optional(),
});

const RESPONSE_SCHEMA = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'Whether the call may run.' },
    always: { type: 'boolean', description: 'Allow calls like this one for the rest of the session.' },
    reason: { type: 'string', description: 'Shown to the model if the call is denied.' },
  },
  required: ['approved'],
} as const;

export const interruptOf = ({
  approval,
  ask,
  call,
}: Pick<PendingApproval, 'approval' | 'ask' | 'call'>): Interrupt => ({
  id: approval,
  reason: 'tool_call',
  message: ask.description,
  toolCallId: call,
  responseSchema: RESPONSE_SCHEMA,
});

export type Answer = { readonly answer: ApprovalAnswer; readonly reason?: string | undefined };

/** Throws `invalid` if the payload does not match the schema of the interrupt. */
export function answerOf({ interruptId, status, payload }: ResumeEntry): Answer {
  if (status === 'cancelled') return { answer: 'deny' };
  const parsed = Payload.safeParse(payload);
  if (!parsed.success) {
    const message = `The payload for ${interruptId} must be {approved: boolean, always?: boolean, reason?: string}.`;
    throw new Fault('invalid', message);
  }
  const { approved, always, reason } = parsed.data;
  if (!approved) return { answer: 'deny', reason };
  return { answer: always ? 'always' : 'once' };
}
