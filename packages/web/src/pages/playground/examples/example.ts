/** A client frame of a contract, ready to be edited. */

/** Values that fill an example; most are taken from server frames on the connection. */
export type Known = {
  /** the session that both panes share; '' for none */
  readonly session: string;
  /** milliseconds since the epoch */
  readonly now: number;
  /** unique value for message ids */
  readonly fresh: string;
  /** of the last `tool_execution_request` (extension) */
  readonly execution?: string;
  /** of the last requested approval (conversations, native) */
  readonly approval?: string;
  /** of the last `agent_finished` (agentloop) */
  readonly response?: string;
  /** of the last `conversation_started` (conversations) */
  readonly conversation?: string;
  /** of the last response that named one (copilot) */
  readonly task?: string;
  /** of the last call that was requested (native) */
  readonly call?: string;
  /** the socket id given by the server (pusher) */
  readonly socket?: string;
  /** signature of the server for a channel or a sign-in (pusher) */
  readonly signature?: string;
  /** signed user data (pusher) */
  readonly userData?: string;
};

export type Example = {
  /** message type in the contract */
  readonly type: string;
  /** short description */
  readonly title: string;
  /** the server has to sign it first, for a channel or for the user */
  readonly signed?: { readonly path: string; readonly channel?: (known: Known) => string };
  frame(known: Known): object;
};

export const UNKNOWN: Known = { session: '', now: 0, fresh: '' };
