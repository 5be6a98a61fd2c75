/** One `tools/call` request. */
import type { Principal } from '@parlance/protocol';
import type { Params, RequestId } from './json-rpc.ts';
import type { Peer } from './peer.ts';

/** Messages to the client before the result. */
export type CallStream = {
  /** with an id, the stream can be resumed from here */
  send(message: object): void;
  prime(id: string): void;
  /** Resolves when everything has been written. */
  ready(): Promise<void>;
};

export type ToolCall = {
  readonly id: RequestId;
  readonly principal: Principal;
  readonly peer: Peer;
  readonly progressToken: RequestId | undefined;
  /** null if the answer is not a stream */
  readonly stream: CallStream | null;
  /** Then it is answered, even if the turn goes on. */
  readonly until: number;
  /** aborted if the client is gone, or takes the call back: the reason is then `TAKEN_BACK` */
  readonly signal: AbortSignal;
  /** the answers to forms of an earlier call, and what that call followed (2026-07-28) */
  readonly inputResponses: Params;
  readonly requestState: string | undefined;
};

export const TAKEN_BACK = Symbol('taken back');
