/** Tools that a connected client executes, such as a browser. */
import type { ConnectionId, Json, PrincipalId } from '@parlance/protocol';

export type ClientRequest = {
  readonly tool: string;
  readonly parameters: { [key: string]: Json };
  /** JSON Schema of the parameters */
  readonly schema: { [key: string]: Json };
  readonly permissions: readonly string[];
  readonly timeoutMs: number;
  /** message for the model if no connected client offers the tool */
  readonly unavailable: string;
};

/** One run of a tool: a new id and its start time. */
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
  /** the client accepts any other tool, but only if no other client offers it */
  readonly fallback: boolean;
};

export const isOffered = ({ tools }: ToolOffer, tool: string): boolean =>
  tools === 'all' || tools.includes(tool);

/** A connected client, registered by its dialect. */
export interface ToolClient {
  readonly connection: ConnectionId;
  readonly owner: PrincipalId;
  readonly offer: ToolOffer;
  /** The id of a run in the format of the client's protocol. */
  executionId(run: ToolRun): string;
  /** Sends the request to the client. The answer comes back through `ClientToolBroker.answer`. */
  request(execution: string, request: ClientRequest): void;
}

/** Whether a client can currently run a tool. */
export interface ClientTools {
  offers(owner: PrincipalId, tool: string): boolean;
}

/** Clients connected to other nodes. */
export interface RemoteToolClients {
  /** Notifies the other nodes; returns a function that withdraws the offer. */
  announce(client: Pick<ToolClient, 'connection' | 'owner' | 'offer'>): () => void;
  /** The owner's clients, while the owner is followed. */
  of(owner: PrincipalId): readonly RemoteToolClient[];
  /** `ready` resolves when the currently connected clients are known. */
  follow(owner: PrincipalId): { readonly ready: Promise<void>; close(): void };
}

export interface RemoteToolClient {
  readonly connection: ConnectionId;
  readonly offer: ToolOffer;
  /** Runs the call on the other node. Rejects with a fault, or with `OutcomeUnknown` if it may have run. */
  run(job: RemoteToolRun): Promise<Json>;
}

export type RemoteToolRun = {
  readonly run: ToolRun;
  readonly request: ClientRequest;
  readonly signal: AbortSignal;
  readonly report: (progress: ClientProgress, execution: string) => void;
};

/** The call was sent to a client, and its outcome is unknown. The message states the reason. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}
