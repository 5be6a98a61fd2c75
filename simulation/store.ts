/**
 * The store model: one database that the nodes reach over a network with latency and faults. `shared` behaves like the PostgreSQL
 * store (leases with epochs, renewed by the real heartbeat; an answer can be lost, or an append written late), otherwise it
 * behaves like SQLite in the process. `store.test.ts` runs the contract of stores and random histories against it and the real stores.
 */
import { type DurableEvent, Fault } from '@parlance/protocol';
import {
  type Append,
  AppendConflict,
  type SessionLog,
  type SessionRecord,
  type SessionRef,
  type SessionStore,
  sessionKey,
  type UsageEntry,
  type UsageStore,
} from '../packages/server/src/core/ports/event-store.ts';
import {
  type AppendAs,
  type Driver,
  type Lease,
  LeaseLost,
  type Leases,
} from '../packages/server/src/core/ports/lease.ts';
import { leaseTimes, openHeartbeat } from '../packages/server/src/stores/postgres/heartbeat.ts';
import { HeldLeases } from '../packages/server/src/stores/postgres/held-leases.ts';
import { readStored } from '../packages/server/src/stores/shared/stored-event.ts';
import { LeaseTable, openMemoryLeases, withLeases } from '../packages/server/src/stores/sqlite/leases.ts';
import { memorySessions } from '../packages/server/src/testing/stores/memory/sessions.ts';
import { MemoryDatabase } from '../packages/server/src/testing/stores/memory/store.ts';
import { type Process, START, type World } from './world.ts';

type Driven = { epoch: number; driver: string | null };
type NodeRow = { until: number; busDown: boolean };
type Saved = {
  readonly head: number;
  readonly record: SessionRecord;
  readonly keys: ReadonlySet<string>;
  readonly driven: Driven;
};

/** A committed append, for the oracles. */
export type Committed = {
  readonly ref: SessionRef;
  readonly events: readonly DurableEvent[];
  readonly record: SessionRecord;
  readonly node: string;
  readonly as: AppendAs;
  readonly driver: Driver | null;
};

export type StoreFaults = {
  /** nobody reaches it */
  down: boolean;
  /** writes are refused */
  full: boolean;
  /** factor of all latencies */
  slow: number;
  /** probabilities: not executed; executed, but the answer is lost; executed after the failure was reported */
  refused: number;
  lost: number;
  late: number;
  /** probability that a read fails */
  unread: number;
  /** what happens to most appends with an event of this type */
  picked: { readonly type: string; readonly how: 'refused' | 'lost' | 'late' } | null;
};

export const HEALTHY: StoreFaults = {
  down: false,
  full: false,
  slow: 1,
  refused: 0,
  lost: 0,
  late: 0,
  unread: 0,
  picked: null,
};

const COMMAND: AppendAs = { by: 'command', take: 'never' };
const LATENCY_MS = 1.5;
const DEADLINE_MS = 2_500;
const NOTIFICATION_MS = 20;
const LOST_NOTIFICATIONS = 0.1;
/** How many of the appends that a fault picks it concerns. */
const PICKED = 0.7;
/** How long an exclusive transaction may take. */
const MAX_TRANSACTION_MS = 10_000;
const EVENT_VERSION = 1;
const AFTER_ALL_DAYS = '9999-12-31';

const unavailable = () => new Fault('storage_unavailable', 'The database does not answer.');

/**
 * Reading is what a run does most: each event is parsed once. What nodes and oracles share is frozen, so that changing it fails the run.
 */
function parsedOnce(): typeof readStored {
  const parsed = new Map<string, DurableEvent>();
  return (ref, row, options) => {
    const known = parsed.get(row.body) ?? frozen(readStored(ref, row, options));
    parsed.set(row.body, known);
    return known;
  };
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const one of Object.values(value)) frozen(one);
  }
  return value;
}

type Lock = { readonly owner: Process; readonly waiting: (() => void)[] };

export class Database {
  readonly faults: StoreFaults = { ...HEALTHY };
  readonly #data = new MemoryDatabase();
  readonly sessions = memorySessions({}, this.#data, parsedOnce());
  readonly #driven = new Map<string, Driven>();
  readonly #nodes = new Map<string, NodeRow>();
  readonly #locks = new Map<string, Lock>();
  #epochs = 0;
  #timeline = 1;
  #startedAt = -3_600_000;
  #saved: Map<string, Saved> | null = null;
  /** what all appends have added to the usage, and how much of it a standby has */
  #used: UsageEntry[] = [];
  #usedThere = 0;
  readonly #traps = new Map<string, () => void>();

  constructor(
    private readonly world: World,
    readonly shared: boolean,
    private readonly onCommitted: (committed: Committed) => void,
    private readonly onErased: (ref: SessionRef) => void,
  ) {}

  // What the oracles read: the truth, without latency.

  refs(): SessionRef[] {
    return [...this.#data.sessions.values()].map(({ record }) => record.ref);
  }

  log(ref: SessionRef): DurableEvent[] {
    return this.sessions.read(ref, 0, Number.MAX_SAFE_INTEGER);
  }

  driverOf(ref: SessionRef): Driver | null {
    const driven = this.#driven.get(sessionKey(ref));
    return driven?.driver ? { node: driven.driver, epoch: driven.epoch } : null;
  }

  // Faults.

  /** Calls `trap` at the next commit of the node, which does not know of it yet. */
  atCommit(node: string, trap: () => void): void {
    this.#traps.set(node, trap);
  }

  clearTraps(): void {
    this.#traps.clear();
  }

  // Notifications between nodes, some of which are lost.

  readonly #listeners = new Map<Process, (ref: SessionRef) => void>();

  listen(process: Process, listener: (ref: SessionRef) => void): void {
    this.#listeners.set(process, listener);
  }

  notify(from: Process, ref: SessionRef): void {
    for (const [process, listener] of this.#listeners)
      if (!process.ended && !this.faults.down && !from.random.chance(LOST_NOTIFICATIONS))
        this.world.after(from.random.latency(NOTIFICATION_MS), () => listener(ref), process);
  }

  /** What is committed up to now survives the next failover. */
  saveForFailover(): void {
    this.#usedThere = this.#used.length;
    this.#saved = new Map(
      [...this.#data.sessions].map(([key, { record, events, keys }]) => [
        key,
        {
          head: events.length,
          record,
          keys: new Set(keys),
          driven: { ...(this.#driven.get(key) ?? { epoch: 0, driver: null }) },
        },
      ]),
    );
  }

  /** A standby that lacks the last commits takes over. Returns what was lost. */
  failover(): { readonly ref: SessionRef; readonly events: readonly DurableEvent[] }[] {
    const lost: { ref: SessionRef; events: DurableEvent[] }[] = [];
    this.#timeline++;
    this.#startedAt = this.world.now;
    for (const [key, session] of [...this.#data.sessions]) {
      const saved = this.#saved?.get(key);
      const { ref } = session.record;
      const events = this.sessions.read(ref, saved?.head ?? 0, Number.MAX_SAFE_INTEGER);
      if (events.length === 0) continue;
      lost.push({ ref, events });
      this.#driven.delete(key);
      if (!saved) {
        this.sessions.erase(ref);
        continue;
      }
      session.events.length = saved.head;
      session.record = saved.record;
      this.#driven.set(key, saved.driven);
      for (const held of [...session.keys].filter((one) => !saved.keys.has(one))) {
        session.keys.delete(held);
        this.#data.holders.get(held)?.delete(session);
      }
    }
    this.#locks.clear();
    this.#used = this.#used.slice(0, this.#usedThere);
    this.usage.prune(AFTER_ALL_DAYS);
    this.usage.add(this.#used);
    return lost;
  }

  /** The connections of a process have ended: its locks are free. */
  disconnected(process: Process): void {
    for (const [key, lock] of this.#locks) if (lock.owner === process) this.#unlock(key);
  }

  // Requests.

  /** Sends a request; `effect` is executed at once when it arrives, unless another node has locked the session. */
  request<Result>(
    process: Process,
    kind: 'read' | 'write',
    effect: () => Result,
    key?: string,
    events: readonly DurableEvent[] = [],
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const { faults, world } = this;
    const { random } = process;
    const fail = (ms: number) => void world.after(ms, () => reject(unavailable()), process);
    const way = () => random.latency(LATENCY_MS * faults.slow);
    const isUnread = kind === 'read' && random.chance(faults.unread);
    const isPicked = events.some(({ type }) => type === faults.picked?.type) && random.chance(PICKED);
    const picked = isPicked ? faults.picked?.how : undefined;
    const isAway = faults.down || (faults.full && kind === 'write');
    if (isAway || random.chance(faults.refused) || isUnread || picked === 'refused') {
      fail(faults.down && random.chance(0.3) ? DEADLINE_MS : way() * 2);
      return promise;
    }
    const isUnsure = this.shared && kind === 'write';
    const isLate = isUnsure && (random.chance(faults.late) || picked === 'late');
    const isLost = isUnsure && (random.chance(faults.lost) || picked === 'lost');
    const execute = () => {
      // A statement of SQLite ends with its process, before or after the commit.
      if (!this.shared && process.ended && random.chance(0.5)) return;
      const lock = key === undefined ? undefined : this.#locks.get(key);
      if (lock && lock.owner !== process) {
        lock.waiting.push(execute);
        return;
      }
      try {
        const result = effect();
        if (isLost) fail(random.latency(1_000));
        else if (!isLate) world.after(way(), () => resolve(result), process);
      } catch (thrown) {
        if (!isLate) world.after(way(), () => reject(thrown), process);
      }
    };
    if (isLate) fail(random.latency(1_000));
    world.after(isLate ? random.latency(2_000) : way(), execute);
    return promise;
  }

  append(
    {
      node,
      able,
      mayTakeOver,
    }: { readonly node: string; readonly able: boolean; readonly mayTakeOver: boolean },
    ...[expected, events, record, as = COMMAND]: Parameters<Append>
  ): { row: number; driver: Driver | null } {
    const key = sessionKey(record.ref);
    const existing = this.#data.sessions.get(key);
    const driven = this.#driven.get(key) ?? { epoch: 0, driver: null };
    const running = record.status === 'running';
    const head = existing?.events.length ?? 0;
    if (head !== expected || (existing && existing.record.createdAt !== record.createdAt))
      throw new AppendConflict(record.ref, expected, head);
    if (as.by === 'driver' && (driven.driver !== node || driven.epoch !== as.epoch))
      throw new LeaseLost(record.ref, as.epoch);
    this.sessions.append(expected, events, record, as);
    this.#used.push(...(record.usage ?? []));
    const take = as.by === 'command' ? as.take : 'never';
    const isFree = driven.driver === null || (mayTakeOver && !this.isAlive(driven.driver));
    const takes =
      running &&
      driven.driver !== node &&
      (take === 'always' || (take === 'if-free' && isFree)) &&
      (able || take === 'always');
    const next = {
      epoch: takes ? ++this.#epochs : driven.epoch,
      driver: !running ? null : takes ? (able ? node : null) : driven.driver,
    };
    this.#driven.set(key, next);
    const driver = this.driverOf(record.ref);
    this.onCommitted({ ref: record.ref, events, record, node, as, driver });
    const trap = this.#traps.get(node);
    this.#traps.delete(node);
    trap?.();
    return { row: this.#data.sessions.get(key)?.row ?? 0, driver };
  }

  erase(ref: SessionRef): boolean {
    this.#driven.delete(sessionKey(ref));
    this.#data.shares.removeOf(ref);
    this.#data.webhooks.removeOf(ref);
    const erased = this.sessions.erase(ref);
    if (erased) this.onErased(ref);
    return erased;
  }

  /** Waits for the lock of the session; rejects if it does not exist. */
  lock(process: Process, key: string): Promise<boolean> {
    return this.request(
      process,
      'read',
      () => {
        if (!this.#data.sessions.has(key)) return false;
        this.#locks.set(key, { owner: process, waiting: this.#locks.get(key)?.waiting ?? [] });
        this.world.after(MAX_TRANSACTION_MS, () => this.#isLocked(process, key) && this.#unlock(key));
        return true;
      },
      key,
    );
  }

  #isLocked(process: Process, key: string): boolean {
    return this.#locks.get(key)?.owner === process;
  }

  unlock(process: Process, key: string): void {
    if (this.#isLocked(process, key)) this.#unlock(key);
  }

  requireLock(process: Process, key: string): void {
    if (!this.#isLocked(process, key)) throw unavailable();
  }

  #unlock(key: string): void {
    const waiting = this.#locks.get(key)?.waiting ?? [];
    this.#locks.delete(key);
    for (const execute of waiting) execute();
  }

  // Leases, as the statements of the PostgreSQL store decide them.

  isAlive(node: string): boolean {
    return (this.#nodes.get(node)?.until ?? 0) > this.world.now;
  }

  livingNodes(): ReadonlySet<string> {
    return new Set([...this.#nodes.keys()].filter((node) => this.isAlive(node)));
  }

  beat(values: readonly unknown[]): Record<string, unknown> {
    const [node, , , , leaseMs, busDown, rows, epochs] = values as [
      string,
      string,
      number,
      unknown,
      number,
      boolean,
      number[],
      number[],
    ];
    this.#nodes.set(node, { until: this.world.now + leaseMs, busDown });
    const byRow = new Map([...this.#data.sessions].map(([key, { row }]) => [row, this.#driven.get(key)]));
    const lost = rows.flatMap((row, index) => {
      const driven = byRow.get(row);
      return driven?.driver === node && driven.epoch === epochs[index] ? [] : [index];
    });
    return {
      changes: '1',
      time: START + this.world.now,
      bus_down: [...this.#nodes].some(
        ([id, one]) => id !== node && one.busDown && one.until > this.world.now,
      ),
      event_version: EVENT_VERSION,
      server: `${this.#startedAt}`,
      uptime: this.world.now - this.#startedAt,
      lost: lost.join(','),
    };
  }

  get timeline(): string {
    return `${this.#timeline}`;
  }

  claim(node: string, mayTakeOver: boolean, ref: SessionRef): { row: number; epoch: number } | null {
    const session = this.#data.sessions.get(sessionKey(ref));
    if (!session) return null;
    const driven = this.#driven.get(sessionKey(ref)) ?? { epoch: 0, driver: null };
    const isFree = driven.driver === null || (mayTakeOver && !this.isAlive(driven.driver));
    if (driven.driver !== node && !isFree) return null;
    const epoch = driven.driver === node ? driven.epoch : ++this.#epochs;
    this.#driven.set(sessionKey(ref), { driver: node, epoch });
    return { row: session.row, epoch };
  }

  release(node: string, { ref, epoch }: Lease): void {
    const driven = this.#driven.get(sessionKey(ref));
    if (driven?.driver === node && driven.epoch === epoch) driven.driver = null;
  }

  /** Running sessions that fit, the least recently changed first. */
  running(): { ref: SessionRef; row: number; driven: Driven }[] {
    return [...this.#data.sessions]
      .filter(([, { record }]) => record.status === 'running')
      .sort(([, one], [, other]) => one.record.updatedAt - other.record.updatedAt || one.row - other.row)
      .map(([key, { record, row }]) => ({
        ref: record.ref,
        row,
        driven: this.#driven.get(key) ?? { epoch: 0, driver: null },
      }));
  }

  takeOver(
    node: string,
    mayTakeOver: boolean,
    limit: number,
  ): { ref: SessionRef; row: number; epoch: number }[] {
    const taken: { ref: SessionRef; row: number; epoch: number }[] = [];
    for (const { ref, driven } of this.running()) {
      if (taken.length >= limit) break;
      const claimed = driven.driver === node ? null : this.claim(node, mayTakeOver, ref);
      if (claimed) taken.push({ ref, ...claimed });
    }
    return taken;
  }

  leave(node: string): void {
    this.#nodes.delete(node);
    for (const driven of this.#driven.values()) if (driven.driver === node) driven.driver = null;
  }

  get usage(): MemoryDatabase['usage'] {
    return this.#data.usage;
  }
}

/** Sums of usage, as one node reads them. */
export function usageOf(database: Database, process: Process): UsageStore {
  const { usage } = database;
  return {
    add: (entries) => database.request(process, 'write', () => usage.add(entries)),
    report: (...given) => database.request(process, 'read', () => usage.report(...given)),
    spent: (filter) => database.request(process, 'read', () => usage.spent(filter)),
    claim: (...given) => database.request(process, 'write', () => usage.claim(...given)),
    prune: (before) => database.request(process, 'write', () => usage.prune(before)),
  };
}

export type NodeStore = SessionStore & {
  readonly leases: Leases;
  /** Announces whether this node is disconnected from the bus. */
  setBusDown(down: boolean): void;
  readonly busDown: boolean;
  readonly onFailover: (listener: () => void) => () => void;
  /** the server of the database that this node knows of */
  readonly timeline: string;
  /** Resolves after the first heartbeat. */
  join(): Promise<void>;
  leave(): Promise<void>;
};

type Reads = Omit<SessionStore, 'append' | 'exclusively' | 'erase' | 'close'>;

/** The store as one node sees it. */
export function connect(database: Database, process: Process): NodeStore {
  const { sessions } = database;
  /** appends of this node that have no answer yet, by session: reads wait for them */
  const inFlight = new Map<string, Set<Promise<unknown>>>();
  const read =
    <Given extends unknown[], Result>(
      effect: (...given: Given) => Result,
      keyOf?: (...given: Given) => string,
    ) =>
    async (...given: Given): Promise<Result> => {
      const result = await database.request(process, 'read', () => effect(...given));
      const pending = keyOf
        ? (inFlight.get(keyOf(...given)) ?? [])
        : [...inFlight.values()].flatMap((one) => [...one]);
      await Promise.all([...pending].map((one) => one.catch(() => undefined)));
      return result;
    };
  const ofSession = (ref: SessionRef) => sessionKey(ref);
  const reads: Reads = {
    read: read(sessions.read, ofSession),
    head: read(sessions.head, ofSession),
    load: read(sessions.load, ofSession),
    heads: read((refs: readonly SessionRef[]) => refs.map(sessions.head)),
    findById: read(sessions.findById),
    lookup: read(sessions.lookup),
    list: read(sessions.list),
    count: read(sessions.count),
    tags: read(sessions.tags),
    size: read(sessions.size),
    touch: (ref, at) => database.request(process, 'write', () => sessions.touch(ref, at)),
    writable: () => database.request(process, 'write', () => undefined),
  };
  const tracked = <Result>(key: string, work: Promise<Result>): Promise<Result> => {
    const pending = inFlight.get(key) ?? new Set();
    inFlight.set(key, pending.add(work));
    return work.finally(() => {
      pending.delete(work);
      if (pending.size === 0) inFlight.delete(key);
    });
  };
  return database.shared
    ? sharedStore(database, process, reads, tracked)
    : ownStore(database, process, reads, tracked);
}

type Tracked = <Result>(key: string, work: Promise<Result>) => Promise<Result>;

const nothing = () => undefined;

function ownStore(database: Database, process: Process, reads: Reads, tracked: Tracked): NodeStore {
  const appender = { node: process.name, able: false, mayTakeOver: false };
  const plain = {
    ...reads,
    append: (...given: Parameters<Append>) => {
      const [expected, events, record] = given;
      const key = sessionKey(record.ref);
      return tracked(
        key,
        database.request(
          process,
          'write',
          () => database.append(appender, expected, events, record),
          undefined,
          events,
        ),
      );
    },
    erase: (ref: SessionRef) => database.request(process, 'write', () => database.erase(ref)),
    close: async () => undefined,
  };
  const leases = openMemoryLeases(new LeaseTable(), plain);
  return {
    ...withLeases(plain, leases),
    leases,
    busDown: false,
    setBusDown: nothing,
    onFailover: () => nothing,
    get timeline() {
      return database.timeline;
    },
    join: async () => undefined,
    leave: async () => undefined,
  };
}

function sharedStore(database: Database, process: Process, reads: Reads, tracked: Tracked): NodeStore {
  const node = process.name;
  const held = new HeldLeases(node);
  const lost = new Set<(lost: readonly SessionRef[] | 'all') => void>();
  const failovers = new Set<() => void>();
  let { timeline } = database;
  const heartbeat = openHeartbeat({
    node: { id: node, release: '', eventVersion: EVENT_VERSION, home: null },
    database: {
      query: async (text, values = []) =>
        database.request(process, 'read', () =>
          text.includes('INSERT INTO nodes') ? [database.beat(values)] : [{ timeline: database.timeline }],
        ),
    },
    times: leaseTimes(),
    held,
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    clock: process.clock,
    onChanges: nothing,
    onLost: (refs) => {
      process.trace(
        refs === 'all' ? 'fences itself' : `has lost the lease of ${refs.map(({ id }) => id).join(', ')}`,
      );
      for (const listener of [...lost]) listener(refs);
    },
    onFailover: () => {
      timeline = database.timeline;
      for (const listener of [...failovers]) listener();
    },
    onNewEvents: async () => undefined,
  });
  const listen =
    <Listener>(listeners: Set<Listener>) =>
    (listener: Listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    };
  const write = (given: Parameters<Append>, before: () => void = nothing): Promise<Driver | null> => {
    const [, events, record] = given;
    const key = sessionKey(record.ref);
    const appender = { node, able: heartbeat.healthy, mayTakeOver: heartbeat.mayTakeOver };
    const work = database.request(
      process,
      'write',
      () => {
        before();
        return database.append(appender, ...given);
      },
      key,
      events,
    );
    return work.then(({ row, driver }) => {
      held.learn(record.ref, row, driver);
      return driver;
    });
  };
  const append: Append = (...given) => {
    const { ref } = given[2];
    return tracked(
      sessionKey(ref),
      held.changing(ref, () => write(given)),
    );
  };
  const learn = ({ ref, row, epoch }: { ref: SessionRef; row: number; epoch: number }): Lease => {
    held.learn(ref, row, { node, epoch });
    return { ref, epoch };
  };

  async function exclusively<Result>(
    ref: SessionRef,
    work: (log: SessionLog) => Promise<Result>,
  ): Promise<Result> {
    const key = sessionKey(ref);
    return held.changing(ref, async () => {
      if (!(await database.lock(process, key))) return work({ append, read: reads.read });
      const inside: Append = (...given) => write(given, () => database.requireLock(process, key));
      try {
        return await work({ append: inside, read: reads.read });
      } finally {
        database.unlock(process, key);
      }
    });
  }

  /** Sessions that this node drives without knowing it, because an answer was lost. */
  async function unknown(limit: number): Promise<Lease[]> {
    const query = held.startQuery();
    const known = new Set(query.held.map(({ row }) => row));
    const found = await database
      .request(process, 'read', () =>
        database
          .running()
          .filter(({ row, driven }) => driven.driver === node && !known.has(row))
          .slice(0, limit),
      )
      .catch((thrown) => {
        held.drop(query);
        throw thrown;
      });
    const leases = found.map(({ ref, row, driven: { epoch } }) => ({ ref, row, epoch }));
    return held.unknown(query, leases).map(({ ref, epoch }) => ({ ref, epoch }));
  }

  const leases: Leases = {
    node,
    get healthy() {
      return heartbeat.healthy;
    },
    onLost: listen(lost),
    good: ({ ref, epoch }) => heartbeat.healthy && held.epochOf(ref) === epoch,
    driverOf: (ref) => database.request(process, 'read', () => database.driverOf(ref)),
    claim: (ref) =>
      held.changing(ref, async () => {
        if (!heartbeat.healthy) return null;
        const { mayTakeOver } = heartbeat;
        const claimed = await database.request(
          process,
          'write',
          () => database.claim(node, mayTakeOver, ref),
          sessionKey(ref),
        );
        return claimed && learn({ ref, ...claimed });
      }),
    release: (lease) =>
      held.changing(lease.ref, async () => {
        if (held.epochOf(lease.ref) === lease.epoch) held.forget(lease.ref);
        await database.request(process, 'write', () => database.release(node, lease), sessionKey(lease.ref));
      }),
    async takeOver(limit) {
      if (!heartbeat.healthy || limit <= 0) return [];
      const { mayTakeOver } = heartbeat;
      const taken = await database.request(process, 'write', () =>
        database.takeOver(node, mayTakeOver, limit),
      );
      const leased = taken.map(learn);
      if (leased.length >= limit) return leased;
      const more = unknown(limit - leased.length);
      return [...leased, ...(await (leased.length > 0 ? more.catch(() => []) : more))];
    },
  };
  return {
    ...reads,
    append,
    exclusively,
    erase: async (ref) => {
      const erased = await held.changing(ref, () =>
        database.request(process, 'write', () => database.erase(ref), sessionKey(ref)),
      );
      held.forget(ref);
      return erased;
    },
    close: async () => undefined,
    leases,
    get busDown() {
      return heartbeat.busDown;
    },
    setBusDown: (down) => heartbeat.setBusDown(down),
    onFailover: listen(failovers),
    get timeline() {
      return timeline;
    },
    async join() {
      for (;;) {
        const joined = await heartbeat.beat().then(
          () => true,
          () => false,
        );
        // What it knows of the database begins here.
        timeline = database.timeline;
        if (joined) break;
        await process.sleep(500);
      }
      heartbeat.start();
    },
    async leave() {
      await heartbeat.stop();
      await database.request(process, 'write', () => database.leave(node)).catch(nothing);
    },
  };
}
