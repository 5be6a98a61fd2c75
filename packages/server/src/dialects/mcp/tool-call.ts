/** One `tools/call` request. */
import type { Principal } from '@parlance/protocol';
import type { Params, RequestId } from '../kit/json-rpc.ts';
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
  /** null if the response is not a stream */
  readonly stream: CallStream | null;
  /** When this time is reached the call is answered, even if the turn is still running. */
  readonly until: number;
  /** aborted if the client disconnects, or cancels the call: the reason is then `TAKEN_BACK` */
  readonly signal: AbortSignal;
  /** answers to forms of an earlier call, and the turn that that call followed (2026-07-28) */
  readonly inputResponses: Params;
  readonly requestState: string | undefined;
};

/** The server closes the stream: the call is answered with the state of the turn, which continues. */
export const SERVER_CLOSES = Symbol('server closes');
export const CALL_CANCELLED = Symbol('taken back');
