/** What a request asks for, and what it has begun. */
import type { InputId, Principal, TurnId } from '@parlance/protocol';
import type { Caller, SessionRef } from '../../core/api/index.ts';
import type { KnownTurn } from './log.ts';
import type { RunAgentInput } from './schemas.ts';

export type Asked = {
  readonly principal: Principal;
  /** absent: the session's, or the default one */
  readonly agent?: string | undefined;
  readonly run: RunAgentInput;
};

export const callerOf = ({ principal }: Asked, key?: string): Caller => ({
  principal,
  dialect: 'agui',
  ...(key !== undefined && { key }),
});

/** What is shown of the session: the turn and those that it holds back, or the turn of the input. */
export type Followed = {
  /** everything after this event is read */
  readonly after: number;
  readonly turn: TurnId | null;
  /** how many further turns are shown after it */
  readonly more: number;
  readonly input: InputId | null;
  /** the turn that the input will have, if it waits for others */
  readonly planned: TurnId | null;
  /** usage counts after this event */
  readonly counted: number;
};

export type Begun = {
  readonly ref: SessionRef;
  /** null: the request has brought nothing new, and is shown the thread */
  readonly followed: Followed | null;
  /** the request has begun the turn, or made it go on: it ends if the client hangs up */
  readonly owns: boolean;
};

export const followedTurn = ({ turn, began }: Omit<KnownTurn, 'seq'>, counted: number): Followed => ({
  after: began - 1,
  turn,
  more: 0,
  input: null,
  planned: null,
  counted,
});

type AcceptedInput = { readonly input: InputId; readonly seq: number; readonly turn?: TurnId | undefined };

export const followedInput = ({ input, seq, turn }: AcceptedInput): Followed => ({
  after: seq - 1,
  turn: null,
  more: 0,
  input,
  planned: turn ?? null,
  counted: seq,
});
