/** The frames of the contract. */
import { z } from 'zod';

const text = (field: string) =>
  z
    .string(`${field} must be a string`)
    .nullish()
    .transform((value) => value?.trim() ?? '');

/** Without a `session_id`, or with a blank one, the conversation lasts as long as the socket. */
export const Chat = z.object({ message: text('message'), session_id: text('session_id') });

/** All types of client frames. */
export const KNOWN_TYPES = ['chat'] as const;

export type Body =
  | { type: 'user_message' | 'agent_message'; message: string; session_id?: string }
  | { type: 'agent_thinking'; reasoning: string; session_id?: string }
  | { type: 'tool_call'; tool_name: string; tool_args: string; session_id?: string }
  | {
      type: 'tool_result';
      tool_name: string;
      result: string;
      /** the same text; some pages read this field */
      tool_result: string;
      success: boolean;
      session_id?: string;
    }
  | { type: 'error'; error: string; retry_after?: number; session_id?: string };
