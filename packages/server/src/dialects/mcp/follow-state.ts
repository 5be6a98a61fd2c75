/**
 * The turn that a call follows, encoded for clients that send it back: the `requestState` of 2026-07-28, and the event id from
 * which a stream is resumed. It is neither secret nor signed, because access to the session is checked.
 */
import { type Principal, TurnId } from '@parlance/protocol';
import { z } from 'zod';
import type { Engine } from '../../core/index.ts';
import { RequestId } from '../kit/json-rpc.ts';
import type { FollowedTurn } from './turn-watch.ts';

const State = z.object({
  session: z.string(),
  after: z.int().min(0),
  turn: TurnId,
  /** for a stream: the request that it answers, and its deadline */
  request: RequestId.optional(),
  progress: RequestId.optional(),
  until: z.number().optional(),
});

/** The call that a stream answers. */
export type Resumable = {
  readonly request: RequestId;
  readonly progress: RequestId | undefined;
  readonly until: number;
};

export function encodeState({ ref, after, turn }: FollowedTurn, resumable?: Resumable): string {
  const state = { session: ref.id, turn, after, ...resumable };
  return Buffer.from(JSON.stringify(state)).toString('base64url');
}

export type Decoded = { readonly followed: FollowedTurn; readonly resumable: Resumable | null };

/** Null if the text is not ours, or is about a session that the principal does not have. */
export async function decodeState(
  engine: Engine,
  principal: Principal,
  text: string,
): Promise<Decoded | null> {
  const parsed = State.safeParse(jsonOf(text));
  if (!parsed.success) return null;
  const { session, after, turn, request, progress, until } = parsed.data;
  const ref = await engine.find(principal, session);
  if (!ref) return null;
  const resumable = request === undefined || until === undefined ? null : { request, progress, until };
  return { followed: { ref, turn, after }, resumable };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return null;
  }
}
