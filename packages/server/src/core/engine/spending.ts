/** Enforces limits on money and tokens before models are called. Without limits, nothing is read or counted here. */
import {
  costOf,
  type DurableEventBody,
  type LimitUse,
  NOTHING_SPENT,
  type QuestionContent,
  type SpendLimit,
  type Spent,
  sumOf,
  type TurnId,
  type Usage,
} from '@parlance/protocol';
import { LruMap } from '../../lib/lru-map.ts';
import type { SessionIndex, SessionRef, UsageEntry, UsageStore } from '../ports/event-store.ts';
import type { Turn } from '../session/session-state.ts';
import {
  announcementOf,
  appliedLimits,
  approached,
  dayOf,
  exhausted,
  exhaustedAbove,
  isReached,
  limitQuestion,
  type Spender,
  softLimits,
  usedIn,
} from '../session/spending.ts';
import type { Session } from './session.ts';
import type { SessionCache } from './session-cache.ts';

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
  readonly store: Pick<SessionIndex, 'list'>;
  readonly now: () => number;
};

type SessionLike = Pick<Session, 'ref' | 'state'>;

/** One model call that may begin. Disposing it releases what it has reserved. */
export type Permit = Disposable & {
  /** The events that announce the limits of which this usage is the first beyond 80 %. */
  announce(turn: TurnId, session: Session, step: Spent): Promise<DurableEventBody<'limit.approached'>[]>;
};

const MAX_CLAIMED = 1_000;
const CHILDREN_AT_ONCE = 100;

type Reservation = { readonly spender: Spender; readonly least: Spent };

export class Spending {
  /** model calls that are running on this node, in the order in which they began */
  readonly #running = new Set<Reservation>();
  /** announcements that need not be claimed again */
  readonly #claimed = new LruMap<true>(MAX_CLAIMED);

  /** `sessions`: complete when the first limit is checked */
  constructor(
    private readonly parts: SpendingParts,
    private readonly sessions: () => Pick<SessionCache, 'use'>,
  ) {}

  get #limits(): readonly SpendLimit[] {
    return this.parts.spendLimits?.() ?? [];
  }

  /** Whether any limit may apply to the session: without one, a step asks nothing. */
  isLimited({ state }: Session): boolean {
    return this.#limits.length > 0 || state.limit !== null;
  }

  /** Throws `budget_exhausted` if a limit that applies to the spender is reached. */
  async check(spender: Spender, session: SessionLike | null = null): Promise<void> {
    if (this.#limits.length > 0)
      await this.#uses(await this.#withFamily(spender, session), [...this.#running]);
  }

  /** What the session asks its owner before its next step, if anything. Throws if it may not go on. */
  question(session: SessionLike, turn: Turn): QuestionContent | null | Promise<QuestionContent | null> {
    const { limit, created } = session.state;
    return limit || created?.parent ? this.#question(session, turn) : null;
  }

  async #question(session: SessionLike, turn: Turn): Promise<QuestionContent | null> {
    for (let above = await this.#above(session); above; above = await this.#above(above)) {
      const { limit } = above.state;
      const reached = limit && softLimits({ limit, spent: await this.#familyOf(above) }).find(isReached);
      if (reached) throw exhaustedAbove(reached);
    }
    const { limit, spent } = session.state;
    if (!limit) return null;
    return limitQuestion({ limit, spent, children: await this.#below(session) }, turn, this.parts.now());
  }

  // Sub-agents count for the sessions that they work for.

  async #withFamily(spender: Spender, session: SessionLike | null): Promise<Spender> {
    if (!session || !this.#limits.some(({ per }) => per === 'session')) return spender;
    let top = session;
    for (let above = await this.#above(top); above; above = await this.#above(top)) top = above;
    return { ...spender, session: await this.#familyOf(top) };
  }

  #above({ ref, state }: SessionLike): Promise<SessionLike | null> {
    const parent = state.created?.parent;
    return parent ? this.#fresh({ owner: ref.owner, id: parent.session }) : Promise.resolve(null);
  }

  async #familyOf(session: SessionLike): Promise<Spent> {
    return sumOf(session.state.spent, await this.#below(session));
  }

  async #below({ ref: { owner, id }, state }: SessionLike): Promise<Spent> {
    if (!state.children) return NOTHING_SPENT;
    let spent = NOTHING_SPENT;
    for (let cursor: string | undefined; ; ) {
      const page = await this.parts.store.list({
        owner,
        parent: id,
        archived: 'included',
        ephemeral: 'included',
        limit: CHILDREN_AT_ONCE,
        ...(cursor !== undefined && { cursor }),
      });
      for (const { ref } of page.sessions) spent = sumOf(spent, await this.#familyOf(await this.#fresh(ref)));
      if (page.next === null) return spent;
      cursor = page.next;
    }
  }

  #fresh(ref: SessionRef): Promise<SessionLike> {
    return this.sessions().use(ref, async (session) => {
      await session.fresh();
      return { ref, state: session.state };
    });
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
      const limits = await this.#uses(await this.#withFamily(spender, session), before);
      return {
        announce: async (turn, announced, step) => {
          const { limit, created } = session.state;
          const soft = limit ? softLimits({ limit, spent: await this.#familyOf(session) }) : [];
          // That of the whole family is announced by the session that the others work for.
          const own = created?.parent ? limits.filter(({ per }) => per !== 'session') : limits;
          return this.#announcements([...own, ...soft], { turn, session: announced, step });
        },
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
