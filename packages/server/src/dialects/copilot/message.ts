/** A message of the copilot contract. */
import type { JsonObject, TurnId } from '@parlance/protocol';
import type { Plan } from './task.ts';

export type MessageStatus = 'pending' | 'success' | 'failure';

export type CopilotMessage = {
  /** the id of its event */
  readonly messageId: string;
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string;
  /** from 0, without gaps */
  readonly sequenceNumber: number;
  /** ISO 8601 */
  readonly timestamp: string;
  readonly status?: MessageStatus;
  readonly actionString?: string;
  readonly actionPayload?: JsonObject;
  readonly error?: { readonly message: string; readonly code: string; readonly action?: string };
  readonly domSummary?: string;
  readonly metadata?: {
    readonly dialect?: string;
    readonly taskId?: TurnId;
    readonly interrupted?: true;
    /** from an imported conversation */
    readonly imported?: true;
    /** for a plan: newer clients show plans from these messages only */
    readonly messageType?: 'plan_preview' | 'plan_update';
    readonly plan?: Plan;
  };
};
