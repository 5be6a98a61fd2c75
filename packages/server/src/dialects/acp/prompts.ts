/** In: prompts, from their input to the end of the turn. */
import { createHash } from 'node:crypto';
import { type DurableEvent, Fault, type Part, type SessionEvent, type TurnId } from '@parlance/protocol';
import type { SessionRef } from '../../core/api/index.ts';
import type { Caller, Context } from './sessions.ts';

export type StopReason = 'end_turn' | 'cancelled' | 'max_tokens' | 'max_turn_requests' | 'refusal';

export type PromptRequest = {
  readonly ref: SessionRef;
  readonly parts: readonly Part[];
  readonly key: string | null;
};

/** A prompt with an unfinished turn. */
export type Prompt = {
  readonly ref: SessionRef;
  readonly turn: TurnId;
  /** rejects if the turn fails */
  readonly ended: Promise<StopReason>;
  /** Stops waiting. The turn continues. */
  leave(): void;
};

/** Resolves when the input is accepted. The same key in the same session is the same turn. */
export async function submit(
  ctx: Context,
  { ref, parts, key }: PromptRequest,
  caller: Caller,
): Promise<Prompt> {
  const { principal, client } = caller;
  const turn = (key === null ? ctx.newId() : turnOfKey(ref, key)) as TurnId;
  const { promise, resolve, reject } = Promise.withResolvers<StopReason>();
  promise.catch(() => undefined);
  let stop: DurableEvent<'step.ended'>['stop'] = 'done';
  const sink = (event: SessionEvent): void => {
    if (!('turn' in event) || event.turn !== turn) return;
    if (event.type === 'step.ended') stop = event.stop;
    else if (event.type === 'turn.ended') resolve(event.paused ? 'max_turn_requests' : REASONS[stop]);
    else if (event.type === 'turn.cancelled' || event.type === 'input.cancelled') resolve('cancelled');
    else if (event.type === 'turn.failed') {
      const { code } = event.fault;
      reject(Fault.from({ ...event.fault, code: code === 'not_found' ? 'internal' : code }));
    }
  };
  let watch = await ctx.engine.watch(ref, sink);
  const by = { principal, dialect: 'acp', via: client.id, turn, ...(key !== null && { key }) };
  try {
    const { events } = await ctx.engine.send(ref, { type: 'input.submit', parts: [...parts] }, by);
    if (events.length === 0) {
      // It was accepted before, and its turn may have ended in the meantime.
      watch.stop();
      watch = await ctx.engine.watch(ref, sink, { after: 0 });
    }
  } catch (thrown) {
    watch.stop();
    throw thrown;
  }
  const ended = promise.finally(() => watch.stop());
  ended.catch(() => undefined);
  return { ref, turn, ended, leave: () => watch.stop() };
}

const REASONS = {
  done: 'end_turn',
  calls: 'end_turn',
  length: 'max_tokens',
  refused: 'refusal',
} as const satisfies Record<DurableEvent<'step.ended'>['stop'], StopReason>;

/** The same id for the same key, and different from that of any other turn. */
function turnOfKey({ owner, id }: SessionRef, key: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(['acp', owner, id, key]))
    .digest('hex');
  const at = (from: number, to: number) => digest.slice(from, to);
  return `${at(0, 8)}-${at(8, 12)}-4${at(13, 16)}-8${at(17, 20)}-${at(20, 32)}`;
}
