/** Shared parts of the engine: sessions in memory, the run queue, limits. */
import {
  type Command,
  type DurableEvent,
  Fault,
  type PrincipalId,
  type SpendLimit,
  type Usage,
} from '@parlance/protocol';
import type { Transport } from '../../cluster/transport.ts';
import { type Clock, type ClockTimer, SYSTEM_CLOCK } from '../../lib/clock.ts';
import { LruMap } from '../../lib/lru-map.ts';
import type {
  MessageSearch,
  SessionIndex,
  SessionRecord,
  SessionRef,
  SessionStore,
  ShareStore,
  StorageState,
  TurnIndex,
  UsageStore,
} from '../ports/event-store.ts';
import { LeaseLost, type Leases, type NodeId } from '../ports/lease.ts';
import {
  type AnswerLimit,
  type AnswerLimits,
  answerTooLong,
  type OnDelta,
  type Prompt,
  type Provider,
  type ProviderEvent,
  StandIn,
} from '../ports/provider.ts';
import {
  type Log,
  type Meter,
  NO_METER,
  NO_TRACER,
  type Observers,
  type Tracer,
} from '../ports/telemetry.ts';
import { evolve } from '../session/evolve.ts';
import { nextAction } from '../session/next-action.ts';
import type { SessionState } from '../session/session-state.ts';
import type { Bus } from './bus.ts';
import { ClientToolBroker } from './client-tools.ts';
import { CoolDowns } from './cool-downs.ts';
import type { Caller } from './decision-context.ts';
import { EphemeralSessions } from './ephemeral-sessions.ts';
import { defaultRetryDelayMs, RunQueue } from './run-queue.ts';
import type { Session } from './session.ts';
import { SessionCache } from './session-cache.ts';
import type { SessionNetwork } from './session-link.ts';
import { SessionResolver } from './session-resolver.ts';
import type { ObservedSession } from './snapshot.ts';
import { Spending } from './spending.ts';
import { subAgents } from './sub-agents.ts';
import { drive } from './turn.ts';
import type { TurnDeps } from './turn-deps.ts';

export type EngineParts = Omit<
  TurnDeps,
  'clients' | 'clock' | 'coolDowns' | 'meter' | 'spending' | 'tracer' | 'subAgents' | 'wake'
> & {
  /** how long a model of a chain is not asked after its first failure; 30 seconds by default */
  readonly coolDownMs?: number;
  /** maximum number of sub-agents of a session that work at once; 8 by default */
  readonly subAgents?: number;
  /** the clock of the machine by default */
  readonly clock?: Clock;
  /** cryptographically secure by default */
  readonly randomBytes?: (length: number) => Uint8Array;
  readonly store: SessionStore;
  /** without it, search returns nothing */
  readonly search?: MessageSearch;
  /** without it, turns are not listed */
  readonly turns?: TurnIndex;
  /** without it, usage is not summed up, and limits of users, agents and API keys have no effect */
  readonly usage?: UsageStore;
  /** how long usage is kept; 400 by default */
  readonly usageDays?: number;
  /** limits of the operator on money and tokens; none by default */
  readonly spendLimits?: () => readonly SpendLimit[];
  /** without it, sessions cannot be shared */
  readonly shares?: ShareStore;
  /** whether someone has owned sessions under this name since that time; everyone has by default */
  readonly isOwner?: (name: string, since: number) => Promise<boolean>;
  readonly bus: Bus<ObservedSession>;
  readonly leases: Leases;
  /** set if other nodes use the same store */
  readonly cluster?: {
    readonly transport: Transport;
    /** Connects the sessions and the client tools of this node with the other nodes. */
    readonly join: (node: ClusterMember) => ClusterNetwork;
    readonly livingNodes: () => Promise<ReadonlySet<NodeId>>;
    /** Calls the listener after a database failover: the store may lack the last acknowledged events. */
    readonly onFailover?: (listener: () => void) => () => void;
    /** interval for taking over sessions without a driver, in milliseconds */
    readonly sweepMs: number;
  };
  readonly clients?: ClientToolBroker;
  readonly turnsAtOnce: number;
  readonly limits?: EngineLimits;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
  /** how long to keep an unused ephemeral session, in milliseconds; 10 minutes by default */
  readonly ephemeralIdleMs?: number;
  /** number of unused sessions to keep in memory */
  readonly cachedSessions?: number;
  /** and of their characters; 64 Mi by default */
  readonly cachedCharacters?: number;
  /** delay before a session runs again after its nth consecutive failure; 1 s, 2 s, … by default */
  readonly retryDelayMs?: (failures: number) => number;
};

/** What a cluster uses of this node. */
export type ClusterMember = Pick<EngineParts, 'store' | 'leases' | 'log' | 'newId'> & {
  readonly clock: Clock;
  readonly meter: Meter;
  readonly clients: ClientToolBroker;
};

/** The other nodes, for the engine. */
export interface ClusterNetwork extends SessionNetwork {
  /** Starts to exchange messages about these sessions. */
  open(sessions: SessionCache): void;
  /** Subscribes this node to all sessions of the owner, or of all owners if null. */
  followOwner(owner: PrincipalId | null): () => void;
  /** Notifies the other nodes that this node has released its leases. */
  released(): void;
  /** Calls the listener when another node has released its leases. */
  onReleased(listener: () => void): void;
}

export type EngineInternals = {
  readonly parts: EngineParts;
  readonly deps: TurnDeps;
  readonly limits: EngineLimits;
  readonly resolver: SessionResolver;
  readonly sessions: SessionCache;
  readonly queue: RunQueue;
  readonly admission: AdmissionControl;
  /** the other nodes, in a cluster */
  readonly network: ClusterNetwork | undefined;
  readonly ephemeral: EphemeralSessions;
  readonly indexer: SearchIndexer | undefined;
};

/** How long to pause a turn that another node is about to end, in milliseconds. */
const HELD_MS = 1_000;
/** Maximum delay before a turn is retried after the shared store was unavailable. */
const OUTAGE_MS = 1_000;
/** An unused session can be loaded again within a millisecond, and may be large. */
const KEPT_IN_MEMORY = 200;
const KEPT_CHARACTERS = 64 * 1024 * 1024;
const EPHEMERAL_IDLE_MS = 600_000;
/** How long a model of a chain is not asked after its first failure. */
const COOL_DOWN_MS = 30_000;
const SUB_AGENTS = 8;

export function assemble(
  parts: EngineParts,
  send: (ref: SessionRef, command: Command, caller: Caller) => Promise<unknown>,
): EngineInternals {
  const { store, catalog, providerFor, limits = NO_LIMITS } = parts;
  const { clock = SYSTEM_CLOCK, meter = NO_METER, tracer = NO_TRACER } = parts;
  const spending = new Spending(parts, () => internals.sessions);
  const deps: TurnDeps = {
    ...parts,
    provider: new Limited(parts.provider, limits),
    ...(providerFor ? { providerFor: (model) => new Limited(providerFor(model), limits) } : {}),
    coolDowns: new CoolDowns(parts.now, parts.coolDownMs ?? COOL_DOWN_MS),
    clients: parts.clients ?? new ClientToolBroker(clock),
    wake: (session) => {
      if (!session.role.isRemote) internals.queue.wake(session);
    },
    subAgents: subAgents(() => internals, { most: parts.subAgents ?? SUB_AGENTS, send }),
    clock,
    meter,
    tracer,
    spending,
    gates: [(session, turn) => spending.question(session, turn), ...(parts.gates ?? [])],
  };
  const waiting = { awaitsUser: true, archived: 'included', ephemeral: 'included' } as const;
  const metrics = new SessionMetrics(deps, () => store.count(waiting));
  const onCommitted: SessionMetrics['onCommitted'] = (ref, events, before) => {
    metrics.onCommitted(ref, events, before);
    deps.subAgents.progress(ref, events, before);
  };
  const network = parts.cluster?.join({ ...parts, clock, meter, clients: deps.clients });
  const sessions = new SessionCache(
    { ...parts, shared: parts.cluster !== undefined, network, onCommitted },
    catalog.first(catalog.defaultDomain),
    {
      sessions: parts.cachedSessions ?? KEPT_IN_MEMORY,
      characters: parts.cachedCharacters ?? KEPT_CHARACTERS,
    },
  );
  const queue = new RunQueue({
    drive: leasedDrive(parts, deps),
    hasWork,
    atOnce: parts.turnsAtOnce,
    retryDelayMs(failures, { held, outage }) {
      const retryDelayMs = (parts.retryDelayMs ?? defaultRetryDelayMs)(failures);
      return Math.max(held ? HELD_MS : 0, outage ? Math.min(OUTAGE_MS, retryDelayMs) : retryDelayMs);
    },
    maxWaiting: limits.turnsWaiting,
    clock,
  });
  network?.open(sessions);
  meter.gauge('turns_running', () => queue.running);
  meter.gauge('queue_depth', () => queue.depths);
  meter.gauge('sessions_in_memory', () => sessions.size);
  const admission = new AdmissionControl({ store, queue, limits, meter });
  const { ephemeralIdleMs: idleMs = EPHEMERAL_IDLE_MS, cluster } = parts;
  const ephemeral = new EphemeralSessions({ ...parts, clock, sessions }, { idleMs, alone: !cluster });
  const resolver = new SessionResolver(store);
  const indexer = parts.search && new SearchIndexer(parts.search, parts.log, clock);
  const internals = {
    parts,
    deps,
    limits,
    resolver,
    sessions,
    queue,
    admission,
    ephemeral,
    indexer,
    network,
  };
  return internals;
}

/** Drives a session while this node holds its lease. False if it has work but cannot continue now. */
const leasedDrive =
  ({ leases, log }: EngineParts, deps: TurnDeps) =>
  async (session: Session, stopping: () => boolean): Promise<boolean> => {
    const { role, ref } = session;
    try {
      if (!hasWork(session)) return true;
      session.outage = !leases.healthy;
      if (session.outage) return false;
      if (!(await session.claim())) return true;
      session.resume();
      await deps.clients.following(ref.owner, () => drive(session, deps, () => stopping() || role.isLost));
      const went = !hasWork(session) || (role.isDriver && !session.abandoned);
      // This node has fenced itself, or has paused the turn for another node.
      session.outage = !went;
      return went;
    } catch (thrown) {
      if (thrown instanceof LeaseLost) {
        deps.meter.add('fenced_appends');
        log.info({ session: ref.id }, 'session taken over by another node');
        return true;
      }
      session.outage = session.isOutage(thrown);
      log.error({ err: thrown, session: ref.id }, 'session stopped');
      return false;
    } finally {
      await released(session, log, stopping());
    }
  };

/** Sessions driven by another node have no work for this one. */
const hasWork = (session: Session): boolean =>
  !session.role.isRemote && nextAction(session.state).kind !== 'idle';

/** A lease that cannot be released ends with this node. */
export async function released(session: Session, log: Log, stopping: boolean): Promise<void> {
  try {
    await session.release(stopping);
  } catch (thrown) {
    log.warn({ err: thrown, session: session.ref.id }, 'failed to release lease');
  }
}

/** Visits the records one at a time. Logs and skips sessions that cannot be read. */
export async function eachReadable(
  records: AsyncIterable<SessionRecord> | Iterable<SessionRecord>,
  log: Log,
  visit: (record: SessionRecord) => Promise<unknown>,
): Promise<void> {
  for await (const record of records) {
    try {
      await visit(record);
    } catch (thrown) {
      log.error({ err: thrown, session: record.ref.id }, 'session unreadable');
    }
  }
}

// Limits on turns, sessions and stored bytes, checked before an input or a new session is recorded. All other
// commands (answers, cancels, renames) are always accepted, so that running turns can finish.

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
      // Ephemeral sessions and sub-agents count, too: they take the same space.
      count = await this.deps.store.count({ owner, ephemeral: 'included', parent: 'included' });
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

// Metrics of sessions, derived from their durable events alone.

export class SessionMetrics {
  constructor(
    private readonly observers: Observers,
    /** number of sessions with a pending approval or question */
    sessionsWaiting: () => Promise<number>,
  ) {
    observers.meter.gauge('sessions_waiting', sessionsWaiting);
  }

  /**
   * Counts stored events. `before` is the state in which they were decided; each is counted with the state
   * before it.
   */
  readonly onCommitted = (ref: SessionRef, events: readonly DurableEvent[], before: SessionState): void => {
    let state = before;
    for (const event of events) {
      this.#count(event, state);
      this.observers.tracer.onCommitted(ref, event, state);
      state = evolve(state, event);
    }
  };

  #count(event: DurableEvent, { turn }: SessionState): void {
    const { meter } = this.observers;
    if (event.type === 'turn.ended') this.#turnOver('ended', event.durationMs);
    else if (event.type === 'turn.failed') this.#turnOver('failed', event.durationMs);
    else if (event.type === 'turn.cancelled')
      this.#turnOver('cancelled', event.at - (turn?.startedAt ?? event.at));
    else if (event.type === 'tool.ended') meter.add('tool_calls', event.outcome);
    else if (event.type === 'approval.answered') meter.add('approvals_answered', event.answer);
  }

  #turnOver(outcome: string, durationMs: number): void {
    this.observers.meter.add('turns', outcome);
    this.observers.meter.observe('turn_seconds', durationMs / 1000, outcome);
  }
}

// Keeps the search index up to date in the background, in small batches.

/** Number of events indexed without a pause. */
const BATCH = 200;
const PAUSE_MS = 20;
const REST_MS = 60_000;

export class SearchIndexer {
  #timer: ClockTimer | null = null;
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(
    private readonly search: Pick<MessageSearch, 'update'>,
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  start(): void {
    if (!this.#stopped) this.#in(PAUSE_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.clock.clear(this.#timer);
    await this.#running;
  }

  #in(ms: number): void {
    this.#timer = this.clock.setTimeout(() => {
      this.#running = this.#update();
    }, ms);
    this.#timer.unref();
  }

  async #update(): Promise<void> {
    let done = true;
    try {
      done = await this.search.update(BATCH);
    } catch (err) {
      this.log.warn({ err }, 'failed to update search index');
    }
    if (!this.#stopped) this.#in(done ? REST_MS : PAUSE_MS);
  }
}

// Enforces the limits of one answer.

/** Overhead of a block: each block is recorded as its own event. */
const BLOCK_CHARACTERS = 256;

type BlockKind = 'text' | 'reasoning';

/** Measures one answer. */
class AnswerMeter {
  #characters = 0;
  #arguments = 0;
  #calls = 0;
  #block: BlockKind | null = null;

  constructor(private readonly limits: AnswerLimits) {}

  /** On the token path. */
  fits(kind: BlockKind, text: string): boolean {
    return this.#with(kind, text) <= this.limits.answerCharacters;
  }

  /** Counts the text and returns whether it fits. On the token path. */
  count(kind: BlockKind, text: string): boolean {
    this.#characters = this.#with(kind, text);
    this.#block = kind;
    return this.#characters <= this.limits.answerCharacters;
  }

  #with(kind: BlockKind, text: string): number {
    return this.#characters + text.length + (kind === this.#block ? 0 : BLOCK_CHARACTERS);
  }

  /** The limit that the event exceeds, or null. */
  reached(event: ProviderEvent): AnswerLimit | null {
    switch (event.type) {
      case 'text':
      case 'reasoning':
        return this.count(event.type, event.text) ? null : 'answerCharacters';
      case 'call':
        this.#calls += 1;
        if (this.#calls > this.limits.answerCalls) return 'answerCalls';
        return this.#unseen([event.tool, event.input, event.malformed, event.sealed]);
      case 'sealed':
        this.#block = null;
        return this.#unseen(event.sealed);
      case 'retrying':
        [this.#characters, this.#arguments, this.#calls, this.#block] = [0, 0, 0, null];
        return null;
      // Counted with the call.
      case 'arguments':
      case 'usage':
      case 'ended':
      case 'failed':
        return null;
    }
  }

  #unseen(data: unknown): AnswerLimit | null {
    this.#arguments += JSON.stringify(data).length;
    return this.#arguments > this.limits.argumentCharacters ? 'argumentCharacters' : null;
  }
}

/** Ends an answer that exceeds a limit in `failed`. */
class Limited extends StandIn {
  constructor(
    private readonly provider: Provider,
    private readonly limits: AnswerLimits,
  ) {
    super(() => provider);
  }

  override get fallbacks() {
    return (this.provider.fallbacks ?? []).map((one) => new Limited(one, this.limits));
  }

  override async *stream(
    prompt: Prompt,
    signal: AbortSignal,
    take?: OnDelta,
  ): AsyncGenerator<ProviderEvent, void> {
    const { limits } = this;
    const meter = new AnswerMeter(limits);
    // Refused text arrives again as an event.
    const counted: OnDelta | undefined =
      take && ((kind, text) => meter.fits(kind, text) && take(kind, text) && meter.count(kind, text));
    for await (const event of this.provider.stream(prompt, signal, counted)) {
      const limit = meter.reached(event);
      if (limit) {
        yield { type: 'failed', fault: answerTooLong(limit, limits[limit]) };
        return;
      }
      yield 'usage' in event ? { ...event, usage: saneUsage(event.usage) } : event;
    }
  }
}

/** Vendors can count anything: a sum with it must stay a number. */
const MAX_COUNTED = 1_000_000_000;

const saneCount = (tokens: number): number =>
  Number.isFinite(tokens) ? Math.round(Math.min(MAX_COUNTED, Math.max(0, tokens))) : 0;

function saneUsage({ inputTokens, outputTokens, cachedTokens, reasoningTokens }: Usage): Usage {
  const [input, output] = [saneCount(inputTokens), saneCount(outputTokens)];
  return {
    inputTokens: input,
    outputTokens: output,
    ...(cachedTokens !== undefined && { cachedTokens: Math.min(input, saneCount(cachedTokens)) }),
    ...(reasoningTokens !== undefined && { reasoningTokens: Math.min(output, saneCount(reasoningTokens)) }),
  };
}
