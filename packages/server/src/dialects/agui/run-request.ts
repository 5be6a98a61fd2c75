/** A parsed request, and its effect. */
import type { InputId, Principal, TurnId } from '@parlance/protocol';
import type { Caller, SessionRef } from '../../core/index.ts';
import type { KnownTurn } from './log.ts';
import type { RunAgentInput } from './schemas.ts';

export type RunRequest = {
  readonly principal: Principal;
  /** absent: the agent of the session, or the default one */
  readonly agent?: string | undefined;
  readonly run: RunAgentInput;
};

export const callerOf = ({ principal }: RunRequest, key?: string): Caller => ({
  principal,
  dialect: 'agui',
  ...(key !== undefined && { key }),
});

/** The part of the session to show: the turn and those queued behind it, or the turn of the input. */
export type FollowTarget = {
  /** reads everything after this event */
  readonly after: number;
  readonly turn: TurnId | null;
  /** number of further turns to show after it */
  readonly more: number;
  readonly input: InputId | null;
  /** the turn of the input, if it is queued */
  readonly planned: TurnId | null;
  /** counts usage after this event */
  readonly counted: number;
};

export type StartedRun = {
  readonly ref: SessionRef;
  /** null: the request has nothing new, and shows the thread */
  readonly target: FollowTarget | null;
  /** the request started or continued the turn, which ends if the client disconnects */
  readonly owns: boolean;
};

export const turnTarget = ({ turn, began }: Omit<KnownTurn, 'seq'>, counted: number): FollowTarget => ({
  after: began - 1,
  turn,
  more: 0,
  input: null,
  planned: null,
  counted,
});

type AcceptedInput = { readonly input: InputId; readonly seq: number; readonly turn?: TurnId | undefined };

export const inputTarget = ({ input, seq, turn }: AcceptedInput): FollowTarget => ({
  after: seq - 1,
  turn: null,
  more: 0,
  input,
  planned: turn ?? null,
  counted: seq,
});
