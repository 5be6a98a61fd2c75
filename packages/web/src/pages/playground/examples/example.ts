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
  /** of the last call that was requested (native) */
  readonly call?: string;
  /** what the server called this socket (pusher) */
  readonly socket?: string;
  /** the signature for the private channel of the session (pusher) */
  readonly signature?: string;
};

export type Example = {
  /** the type of the message, as the contract names it */
  readonly type: string;
  /** what it does, in a few words */
  readonly title: string;
  frame(known: Known): object;
};

export const UNKNOWN: Known = { session: '', now: 0, fresh: '' };
