import { Fault, type Principal } from '@parlance/protocol';
import type { Context } from '../context.ts';
import type { Following } from './following.ts';

/** Cancels the turn of an unfinished response, even if it has not started. */
export async function cancelTurn(
  { engine, log }: Context,
  principal: Principal,
  following: Following,
): Promise<void> {
  const { ref } = following.segment;
  const { turn } = following;
  if (turn === null || following.isOver) return;
  try {
    await engine.send(ref, { type: 'turn.cancel', turn }, { principal, dialect: 'openai' });
  } catch (thrown) {
    if (!(thrown instanceof Fault)) log.error({ err: thrown, session: ref.id }, 'failed to cancel turn');
  }
}
