/** Shared parts of the engine: sessions in memory, the run queue, limits. */
import { nextAction } from '../domain/next-action.ts';
import type { Bus } from '../ports/bus.ts';
import type { SessionRecord, SessionStore } from '../ports/event-store.ts';
import { Deposed, type Leases, type NodeId } from '../ports/lease.ts';
import type { Log } from '../ports/logger.ts';
import type { MessageSearch } from '../ports/message-search.ts';
import { type Meter, NO_METER } from '../ports/meter.ts';
import type { ShareStore } from '../ports/shares.ts';
import { NO_TRACER, type Tracer } from '../ports/tracer.ts';
import type { Transport } from '../ports/transport.ts';
import type { TurnIndex } from '../ports/turn-index.ts';
import type { WakeUps } from '../ports/wake-up.ts';
import { AdmissionControl, type EngineLimits, NO_LIMITS } from '../runtime/admission-control.ts';
import { withinLimits } from '../runtime/answer-limits.ts';
import { ClientToolBroker } from '../runtime/client-tool-broker.ts';
import { EphemeralSessions } from '../runtime/ephemeral-sessions.ts';
import { RemoteCalls } from '../runtime/remote-calls.ts';
import { RemoteClients } from '../runtime/remote-clients.ts';
import { RemoteNetwork } from '../runtime/remote-network.ts';
import { defaultRetryDelayMs, RunQueue } from '../runtime/run-queue.ts';
import { SearchIndexer } from '../runtime/search-indexer.ts';
import type { Session } from '../runtime/session.ts';
import { SessionCache } from '../runtime/session-cache.ts';
import { SessionMetrics } from '../runtime/session-metrics.ts';
import type { ObservedSession } from '../runtime/snapshot.ts';
import { drive } from '../runtime/turn.ts';
import type { TurnDeps } from '../runtime/turn-deps.ts';
import { SessionResolver } from './session-resolver.ts';

export type EngineParts = Omit<TurnDeps, 'clients' | 'meter' | 'tracer'> & {
  readonly store: SessionStore;
  /** without it, search returns nothing */
  readonly search?: MessageSearch;
  /** without it, turns are not listed */
  readonly turns?: TurnIndex;
  /** without it, sessions cannot be shared */
  readonly shares?: ShareStore;
  /** whether someone has owned sessions under this name since that time; everyone has by default */
  readonly isOwner?: (name: string, since: number) => Promise<boolean>;
  readonly bus: Bus<ObservedSession>;
  readonly leases: Leases;
  /** set if other nodes use the same store */
  readonly cluster?: {
    readonly transport: Transport;
    /** used while transport messages may not arrive */
    readonly wakeUps?: WakeUps;
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
  /** delay before a session runs again after its nth consecutive failure; 1 s, 2 s, … by default */
  readonly retryDelayMs?: (failures: number) => number;
};

export type EngineInternals = {
  readonly parts: EngineParts;
  readonly deps: TurnDeps;
  readonly limits: EngineLimits;
  readonly resolver: SessionResolver;
  readonly sessions: SessionCache;
  readonly queue: RunQueue;
  readonly admission: AdmissionControl;
  /** the other nodes, in a cluster */
  readonly network: RemoteNetwork | undefined;
  readonly ephemeral: EphemeralSessions;
  readonly indexer: SearchIndexer | undefined;
};

/** How long to pause a turn that another node is about to end, in milliseconds. */
const HELD_MS = 1_000;
/** Maximum delay before a turn is retried after the shared store was unavailable. */
const OUTAGE_MS = 1_000;
/** An unused session can be loaded again within a millisecond, and may be large. */
const KEPT_IN_MEMORY = 200;
const EPHEMERAL_IDLE_MS = 600_000;

export function assemble(parts: EngineParts): EngineInternals {
  const { store, catalog, providerFor, meter = NO_METER, tracer = NO_TRACER, limits = NO_LIMITS } = parts;
  const deps: TurnDeps = {
    ...parts,
    provider: withinLimits(parts.provider, limits),
    ...(providerFor ? { providerFor: (model) => withinLimits(providerFor(model), limits) } : {}),
    clients: parts.clients ?? new ClientToolBroker(),
    meter,
    tracer,
  };
  const awaitingApproval = { awaitingApproval: true, archived: 'included', ephemeral: 'included' } as const;
  const { onCommitted } = new SessionMetrics(deps, () => store.count(awaitingApproval));
  const network = parts.cluster ? new RemoteNetwork({ ...parts, ...parts.cluster, meter }) : undefined;
  const sessions = new SessionCache(
    { ...parts, shared: parts.cluster !== undefined, network, onCommitted },
    catalog.first(catalog.defaultDomain),
    parts.cachedSessions ?? KEPT_IN_MEMORY,
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
  });
  network?.open(sessions);
  if (parts.cluster) askClientsElsewhere(parts.cluster.transport, deps);
  meter.gauge('turns_running', () => queue.running);
  meter.gauge('queue_depth', () => queue.depths);
  meter.gauge('sessions_in_memory', () => sessions.size);
  const admission = new AdmissionControl({ store, queue, limits, meter });
  const { ephemeralIdleMs: idleMs = EPHEMERAL_IDLE_MS, cluster } = parts;
  const ephemeral = new EphemeralSessions({ ...parts, sessions }, { idleMs, alone: !cluster });
  const resolver = new SessionResolver(store);
  const indexer = parts.search && new SearchIndexer(parts.search, parts.log);
  return { parts, deps, limits, resolver, sessions, queue, admission, ephemeral, indexer, network };
}

/** Lets clients of other nodes run tools for sessions driven here, and vice versa. */
function askClientsElsewhere(transport: Transport, { clients, newId, log }: TurnDeps): void {
  clients.attach(new RemoteClients(transport, newId));
  new RemoteCalls(transport, clients, log);
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
      if (thrown instanceof Deposed) {
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
