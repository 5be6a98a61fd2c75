/** The frames of the contract. */

/** Every type of frame that a client sends. */
export const KNOWN_TYPES = ['chat'] as const;

export type Body =
  | { type: 'user_message' | 'agent_message'; message: string; session_id?: string }
  | { type: 'agent_thinking'; reasoning: string; session_id?: string }
  | { type: 'tool_call'; tool_name: string; tool_args: string; session_id?: string }
  | {
      type: 'tool_result';
      tool_name: string;
      result: string;
      /** the same text: some pages read this field */
      tool_result: string;
      success: boolean;
      session_id?: string;
    }
  | { type: 'error'; error: string; retry_after?: number; session_id?: string };
