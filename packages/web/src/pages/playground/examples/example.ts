/** A frame that a client of a contract may send, ready to be edited. */

/** What an example is filled with. What the server has said on the connection is taken from its frames. */
export type Known = {
  /** the session that both panes share; '' for none */
  readonly session: string;
  /** milliseconds since 1970 */
  readonly now: number;
  /** something unlike what it was before, for ids of messages */
  readonly fresh: string;
  /** of the last `tool_execution_request` (extension) */
  readonly execution?: string;
  /** of the approval that was asked for last (conversations, native) */
  readonly approval?: string;
  /** of the last `agent_finished` (agentloop) */
  readonly response?: string;
  /** of the last `conversation_started` (conversations) */
  readonly conversation?: string;
  /** of the last answer that named one (copilot) */
  readonly task?: string;
  /** of the last call that was requested (native) */
  readonly call?: string;
  /** what the server called this socket (pusher) */
  readonly socket?: string;
  /** what the server has signed for this socket: a channel, or who signs in (pusher) */
  readonly signature?: string;
  /** who signs in, as the server has signed it (pusher) */
  readonly userData?: string;
};

export type Example = {
  /** the type of the message, as the contract names it */
  readonly type: string;
  /** what it does, in a few words */
  readonly title: string;
  /** it has to be signed by the server first, for a channel or for the user */
  readonly signed?: { readonly path: string; readonly channel?: (known: Known) => string };
  frame(known: Known): object;
};

export const UNKNOWN: Known = { session: '', now: 0, fresh: '' };
