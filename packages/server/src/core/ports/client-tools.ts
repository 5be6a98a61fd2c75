/** Tools that a connected client runs, such as a browser. */
import type { ConnectionId, Json, PrincipalId } from '@parlance/protocol';

export type ClientRequest = {
  readonly tool: string;
  readonly parameters: { [key: string]: Json };
  /** JSON Schema of the parameters */
  readonly schema: { [key: string]: Json };
  readonly permissions: readonly string[];
  readonly timeoutMs: number;
  /** what the model reads if no connected client offers the tool */
  readonly unavailable: string;
};

/** One run of a tool: a new id, and the time at which it started. */
export type ToolRun = { readonly id: string; readonly at: number };

export type ClientAnswer =
  | { readonly ok: true; readonly result: Json }
  | {
      readonly ok: false;
      readonly kind: string;
      readonly message: string;
      readonly recoverable: boolean;
      readonly retryAfterMs?: number;
    };

export type ClientProgress = {
  readonly status: 'queued' | 'executing' | 'completed' | 'failed' | 'timeout';
  readonly progress?: number;
  readonly message?: string;
};

/** A connected client, as its dialect registers it. */
export interface ToolClient {
  readonly connection: ConnectionId;
  readonly owner: PrincipalId;
  /** `fallback`: the client may run the tool, but is asked only if no other client offers it */
  offers(tool: string): 'yes' | 'fallback' | 'no';
  /** The id of a run as the client's protocol writes it. */
  executionId(run: ToolRun): string;
  /** Sends the request to the client. The answer comes back through `ClientToolBroker.answer`. */
  request(execution: string, request: ClientRequest): void;
}

/** Whether a tool can run at a client now. */
export interface ClientTools {
  offers(owner: PrincipalId, tool: string): boolean;
}
