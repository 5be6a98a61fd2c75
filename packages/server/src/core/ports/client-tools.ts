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

export type ToolOffer = {
  readonly tools: readonly string[] | 'all';
  /** the client may run other tools, too, but is asked only if no other client offers them */
  readonly fallback: boolean;
};

export const isOffered = ({ tools }: ToolOffer, tool: string): boolean =>
  tools === 'all' || tools.includes(tool);

/** A connected client, as its dialect registers it. */
export interface ToolClient {
  readonly connection: ConnectionId;
  readonly owner: PrincipalId;
  readonly offer: ToolOffer;
  /** The id of a run as the client's protocol writes it. */
  executionId(run: ToolRun): string;
  /** Sends the request to the client. The answer comes back through `ClientToolBroker.answer`. */
  request(execution: string, request: ClientRequest): void;
}

/** Whether a tool can run at a client now. */
export interface ClientTools {
  offers(owner: PrincipalId, tool: string): boolean;
}

/** Clients that are connected to other nodes. */
export interface RemoteToolClients {
  /** Notifies the other nodes; returns a function that withdraws the offer. */
  announce(client: Pick<ToolClient, 'connection' | 'owner' | 'offer'>): () => void;
  /** Those of the owner, while the owner is followed. */
  of(owner: PrincipalId): readonly RemoteToolClient[];
  /** `ready` resolves when the clients that are connected now are known. */
  follow(owner: PrincipalId): { readonly ready: Promise<void>; close(): void };
}

export interface RemoteToolClient {
  readonly connection: ConnectionId;
  readonly offer: ToolOffer;
  /** Runs the call there. Rejects with a fault, or with `OutcomeUnknown` if it may have run. */
  run(job: RemoteToolRun): Promise<Json>;
}

export type RemoteToolRun = {
  readonly run: ToolRun;
  readonly request: ClientRequest;
  readonly signal: AbortSignal;
  readonly report: (progress: ClientProgress, execution: string) => void;
};

/** The call was sent to a client, and its outcome is unknown. The message gives the reason. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}
