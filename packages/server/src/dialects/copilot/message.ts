/** A message as the copilot contract shows it. */
import type { JsonObject, TurnId } from '@parlance/protocol';
import type { Plan } from './task.ts';

export type MessageStatus = 'pending' | 'success' | 'failure';

export type CopilotMessage = {
  /** the id of the event that it is made from */
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
    /** from a conversation that the session took over */
    readonly imported?: true;
    /** of a plan: newer clients show plans by these messages alone */
    readonly messageType?: 'plan_preview' | 'plan_update';
    readonly plan?: Plan;
  };
};
