/**
 * Limits on turns, sessions and stored bytes, checked before an input or a new session is recorded. All other
 * commands (answers, cancels, renames) are always accepted, so that running turns can finish.
 */
import { type Command, Fault } from '@parlance/protocol';
import { LruMap } from '../../lib/lru-map.ts';
import type { AnswerLimits } from '../ports/answer-limits.ts';
import type { SessionIndex, StorageState } from '../ports/event-store.ts';
import type { Meter } from '../ports/meter.ts';
import type { RunQueue } from './run-queue.ts';
import type { Session } from './session.ts';

export type EngineLimits = AnswerLimits & {
  /** maximum number of turns waiting to run */
  readonly turnsWaiting: number;
  /** maximum number of queued inputs per session */
  readonly inputsQueued: number;
  /** maximum number of sessions per principal, not counting archived ones */
  readonly sessionsPerPrincipal: number;
  /** maximum size of all stored sessions, in bytes */
  readonly storedBytes: number;
};

export const NO_LIMITS: EngineLimits = {
  turnsWaiting: Number.POSITIVE_INFINITY,
  inputsQueued: Number.POSITIVE_INFINITY,
  sessionsPerPrincipal: Number.POSITIVE_INFINITY,
  storedBytes: Number.POSITIVE_INFINITY,
  answerCharacters: Number.POSITIVE_INFINITY,
  argumentCharacters: Number.POSITIVE_INFINITY,
  answerCalls: Number.POSITIVE_INFINITY,
};

const TURNS_RETRY_MS = 2_000;
const STORAGE_RETRY_MS = 60_000;
/** Maximum number of owners whose session counts are cached. */
const MAX_OWNERS = 10_000;

const nothing = () => undefined;

type AdmissionDeps = {
  readonly store: Pick<SessionIndex, 'count'> & Pick<StorageState, 'size'>;
  readonly queue: RunQueue;
  readonly limits: EngineLimits;
  readonly meter: Meter;
};

export class AdmissionControl {
  readonly #owned = new LruMap<number>(MAX_OWNERS);

  constructor(private readonly deps: AdmissionDeps) {}

  /**
   * Throws `overloaded` or `limited` if a limit is reached. Call the returned function after the command has failed, or
   * after it has succeeded and the session was woken.
   */
  async admit(session: Session, { type }: Command): Promise<() => void> {
    if (type !== 'input.submit' && type !== 'session.create') return nothing;
    await this.#checkStorage();
    const left = session.state.created ? nothing : await this.#beginSession(session);
    const leave = type === 'input.submit' ? this.deps.queue.enter(session) : nothing;
    if (leave)
      return () => {
        leave();
        left();
      };
    left();
    this.deps.meter.add('refusals', 'turnsWaiting');
    throw new Fault('overloaded', 'The server has reached its limit of waiting turns.', {
      retryAfterMs: TURNS_RETRY_MS,
    });
  }

  /**
   * The count of an owner is cached, and read again before a refusal: sessions may have been archived or
   * deleted.
   */
  async #beginSession(session: Session): Promise<() => void> {
    const max = this.deps.limits.sessionsPerPrincipal;
    if (max === Number.POSITIVE_INFINITY) return nothing;
    const { owner } = session.ref;
    let count = this.#owned.get(owner);
    if (count === undefined || count >= max) {
      // Ephemeral sessions count, too: they take the same space.
      count = await this.deps.store.count({ owner, ephemeral: 'included' });
    }
    if (count >= max) {
      this.#owned.set(owner, count);
      this.deps.meter.add('refusals', 'sessionsPerPrincipal');
      throw new Fault('limited', `You have reached the limit of ${max} sessions; archive some first.`);
    }
    this.#owned.set(owner, count + 1);
    return () => {
      if (session.state.created) return;
      const counted = this.#owned.get(owner);
      if (counted !== undefined) this.#owned.set(owner, counted - 1);
    };
  }

  /** Counts inputs that `decide` refused because the queue is full. */
  failed(thrown: unknown): void {
    if (thrown instanceof Fault && thrown.code === 'limited') this.deps.meter.add('refusals', 'inputsQueued');
  }

  async #checkStorage(): Promise<void> {
    const max = this.deps.limits.storedBytes;
    if (max === Number.POSITIVE_INFINITY || (await this.deps.store.size()) < max) return;
    this.deps.meter.add('refusals', 'storedBytes');
    throw new Fault('overloaded', `The server has reached its storage limit of ${max} bytes.`, {
      retryAfterMs: STORAGE_RETRY_MS,
    });
  }
}
