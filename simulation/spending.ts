/**
 * Limits on tokens (O15): no step begins after its own node could know that a limit is used up, what is counted is what was used, and
 * a limit is announced once.
 */
import { type Amount, type DurableEvent, limitName, type SpendLimit } from '@parlance/protocol';
import { type SessionRef, sessionKey } from '../packages/server/src/core/ports/event-store.ts';

type Counts = { turn: number; session: number; user: number };

/** After these, the turn asks again whether the next step may begin. */
const BEFORE_A_STEP: readonly DurableEvent['type'][] = [
  'turn.started',
  'turn.resumed',
  'step.ended',
  'tool.ended',
  'question.answered',
];

export class SpendingRules {
  readonly #sessions = new Map<string, { spent: number; turn: number; limit: number | null }>();
  /** by session: what was used when its next step could be decided */
  readonly #known = new Map<string, Counts & { readonly limit: number | null }>();
  readonly #announced = new Set<string>();
  /** by sessions that have been erased */
  #erased = 0;

  constructor(
    readonly limits: readonly SpendLimit[],
    private readonly fail: (ref: SessionRef, message: string) => void,
  ) {}

  /** of all sessions, also of those that have been erased */
  get total(): number {
    return [...this.#sessions.values()].reduce((sum, { spent }) => sum + spent, this.#erased);
  }

  committed(ref: SessionRef, events: readonly DurableEvent[]): void {
    const session = this.#sessions.get(sessionKey(ref)) ?? { spent: 0, turn: 0, limit: null };
    this.#sessions.set(sessionKey(ref), session);
    for (const event of events) {
      if (event.type === 'turn.started') session.turn = 0;
      if (event.type === 'session.configured' && event.limit !== undefined)
        session.limit = event.limit?.tokens ?? null;
      if (event.type === 'step.ended' || event.type === 'usage.recorded') {
        const tokens = event.usage.inputTokens + event.usage.outputTokens;
        session.spent += tokens;
        if (event.type === 'step.ended') session.turn += tokens;
      }
      if (event.type === 'limit.approached') this.#announce(ref, event);
    }
    if (events.some(({ type }) => BEFORE_A_STEP.includes(type)))
      this.#known.set(sessionKey(ref), {
        turn: session.turn,
        session: session.spent,
        user: this.total,
        limit: session.limit,
      });
  }

  #announce(ref: SessionRef, { turn, limit }: Extract<DurableEvent, { type: 'limit.approached' }>): void {
    const of = limit.in ? limit.of : limit.per === 'turn' ? turn : sessionKey(ref);
    const key = JSON.stringify([limit.per, limit.in, limit.unit, limit.max, limit.soft, of]);
    if (this.#announced.has(key)) this.fail(ref, `${limitName(limit)} is announced twice`);
    this.#announced.add(key);
  }

  /** A step begins. */
  modelCalled(ref: SessionRef): void {
    const known = this.#known.get(sessionKey(ref));
    if (!known) return;
    for (const { per, tokens = Number.POSITIVE_INFINITY } of this.limits) {
      const used = per === 'turn' || per === 'session' ? known[per] : known.user;
      if (used >= tokens)
        this.fail(ref, `a step begins although ${used} of ${tokens} tokens of the ${per} were used`);
    }
    const limit = this.#sessions.get(sessionKey(ref))?.limit;
    if (known.limit !== null && limit === known.limit && known.session >= known.limit)
      this.fail(ref, `a step begins although ${known.session} tokens were used, and the limit is ${limit}`);
  }

  erased(ref: SessionRef): void {
    this.#erased += this.#sessions.get(sessionKey(ref))?.spent ?? 0;
    this.#sessions.delete(sessionKey(ref));
    this.#known.delete(sessionKey(ref));
  }

  /** The session is as this log says: others are lost. */
  lost(ref: SessionRef, log: readonly DurableEvent[]): void {
    this.#sessions.delete(sessionKey(ref));
    this.#known.delete(sessionKey(ref));
    this.#announced.clear();
    this.committed(
      ref,
      log.filter(({ type }) => type !== 'limit.approached'),
    );
    this.#known.delete(sessionKey(ref));
  }
}

/** A limit that an owner sets for a session. */
export const OWN_LIMITS: readonly (Amount | null)[] = [{ tokens: 60 }, { tokens: 200 }, null];
