import { Fault, type Principal } from '@parlance/protocol';
import type { Context } from '../context.ts';
import type { ResponseFollower } from './response-follower.ts';

/** Cancels the turn of an unfinished response, even if it has not started. */
export async function cancelTurn(
  { engine, log }: Context,
  principal: Principal,
  follower: ResponseFollower,
): Promise<void> {
  const { ref } = follower.segment;
  const { turn } = follower;
  if (turn === null || follower.isOver) return;
  try {
    await engine.send(ref, { type: 'turn.cancel', turn }, { principal, dialect: 'openai' });
  } catch (thrown) {
    if (!(thrown instanceof Fault)) log.error({ err: thrown, session: ref.id }, 'failed to cancel turn');
  }
}
