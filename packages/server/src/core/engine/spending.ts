/** Enforces limits on money and tokens before models are called. Without limits, nothing is read or counted here. */
import {
  costOf,
  type DurableEventBody,
  type LimitUse,
  NOTHING_SPENT,
  type SpendLimit,
  type Spent,
  type TurnId,
  type Usage,
} from '@parlance/protocol';
import { LruMap } from '../../lib/lru-map.ts';
import type { UsageEntry, UsageStore } from '../ports/event-store.ts';
import {
  announcementOf,
  appliedLimits,
  approached,
  dayOf,
  exhausted,
  isReached,
  type Spender,
  softLimits,
  usedIn,
} from '../session/spending.ts';
import type { Session } from './session.ts';

/** US dollars per million tokens. */
export type ModelPrice = {
  readonly input: number;
  readonly output: number;
  readonly cached?: number | undefined;
};

export type PriceOf = (provider: string, model: string) => ModelPrice | undefined;

/** In millionths of a US dollar, or nothing if the model has no price. */
export function pricedUsage(
  usage: Usage,
  { name, model }: { readonly name: string; readonly model: string },
  priceOf: PriceOf | undefined,
): { readonly cost?: number } {
  const price = priceOf?.(name, model);
  return price ? { cost: costOf(usage, price) } : {};
}

type SpendingParts = {
  /** the current limits of the operator; none by default */
  readonly spendLimits?: () => readonly SpendLimit[];
  readonly usage?: UsageStore;
  readonly now: () => number;
};

/** One model call that may begin. Disposing it releases what it has reserved. */
export type Permit = Disposable & {
  /** The events that announce the limits of which this usage is the first beyond 80 %. */
  announce(turn: TurnId, session: Session, step: Spent): Promise<DurableEventBody<'limit.approached'>[]>;
};

const MAX_CLAIMED = 1_000;

type Reservation = { readonly spender: Spender; readonly least: Spent };

export class Spending {
  /** model calls that are running on this node, in the order in which they began */
  readonly #running = new Set<Reservation>();
  /** announcements that need not be claimed again */
  readonly #claimed = new LruMap<true>(MAX_CLAIMED);

  constructor(private readonly parts: SpendingParts) {}

  get #limits(): readonly SpendLimit[] {
    return this.parts.spendLimits?.() ?? [];
  }

  /** Whether any limit may apply to the session: without one, a step asks nothing. */
  isLimited({ state }: Session): boolean {
    return this.#limits.length > 0 || state.limit !== null;
  }

  /** Throws `budget_exhausted` if a limit that applies to the spender is reached. */
  async check(spender: Spender): Promise<void> {
    if (this.#limits.length > 0) await this.#uses(spender, [...this.#running]);
  }

  /**
   * Like `check`, for a call that begins now and will use at least `least`, which is reserved until the permit is disposed:
   * calls that run at the same time do not begin on the same rest.
   */
  async begin(spender: Spender, session: Session, least: Spent): Promise<Permit> {
    const before = [...this.#running];
    const reservation = { spender, least };
    this.#running.add(reservation);
    const release = () => void this.#running.delete(reservation);
    try {
      const limits = await this.#uses(spender, before);
      return {
        announce: (turn, announced, step) =>
          this.#announcements([...limits, ...softLimits(session.state)], { turn, session: announced, step }),
        [Symbol.dispose]: release,
      };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  /** How much of each limit is used. Throws if one of them is. */
  async #uses(spender: Spender, before: readonly Reservation[]): Promise<LimitUse[]> {
    const now = this.parts.now();
    const uses = await this.usesOf(spender);
    for (const limit of uses) {
      const reserved = before
        .filter((other) => this.#concerns(limit, other.spender, now))
        .reduce((sum, { least }) => sum + usedIn(limit.unit, least), 0);
      if (isReached({ ...limit, used: limit.used + reserved })) throw exhausted(limit, now);
    }
    return uses;
  }

  /** How much of each limit is used that applies to the spender. */
  async usesOf(spender: Spender): Promise<LimitUse[]> {
    const sums = new Map<string, Promise<Spent>>();
    const sumOf = (filter: Parameters<UsageStore['spent']>[0]): Promise<Spent> => {
      const key = JSON.stringify(filter);
      const sum = sums.get(key) ?? this.parts.usage?.spent(filter) ?? Promise.resolve(NOTHING_SPENT);
      sums.set(key, sum);
      return sum;
    };
    return Promise.all(
      appliedLimits(this.#limits, spender, this.parts.now()).map(async ({ limit, filter }) => {
        const own = limit.per === 'turn' ? spender.turn : spender.session;
        const spent = filter ? await sumOf(filter) : (own ?? NOTHING_SPENT);
        return { ...limit, used: usedIn(limit.unit, spent) };
      }),
    );
  }

  #concerns({ per, of }: LimitUse, other: Spender, now: number): boolean {
    if (per === 'turn' || per === 'session') return false;
    return appliedLimits(this.#limits, other, now).some(({ limit }) => limit.per === per && limit.of === of);
  }

  async #announcements(
    limits: readonly LimitUse[],
    { turn, session, step }: { readonly turn: TurnId; readonly session: Session; readonly step: Spent },
  ): Promise<DurableEventBody<'limit.approached'>[]> {
    const at = this.parts.now();
    const events: DurableEventBody<'limit.approached'>[] = [];
    for (const limit of approached(limits, step)) {
      const name = announcementOf(limit, { at, turn });
      if (session.state.announced.includes(name)) continue;
      const isShared = limit.in !== undefined;
      // The name is the same after a crash: the turn that has claimed it announces it.
      if (isShared) {
        if (this.#claimed.get(name)) continue;
        this.#claimed.set(name, true);
        if ((await this.parts.usage?.claim(name, dayOf(at), turn)) !== turn) continue;
      }
      events.push({ type: 'limit.approached', turn, limit });
    }
    return events;
  }

  /** Counts a call outside of any session. */
  async record(entry: UsageEntry): Promise<void> {
    await this.parts.usage?.add([entry]);
  }
}

/** The spender of the session's running turn, or of its next one. */
export function spenderOf(session: Session, apiKey = session.state.turn?.apiKey): Spender {
  const { state, ref } = session;
  return {
    owner: ref.owner,
    agent: state.turn?.agent.id ?? state.agent.id,
    apiKey,
    session: state.spent,
    turn: state.turn?.spent ?? null,
  };
}
