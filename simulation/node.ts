/** A node of the cluster: the real engine, network and projections on simulated ports. */
import type { ConnectionId } from '@parlance/protocol';
import { PubSubTransport } from '../packages/server/src/cluster/pub-sub-transport.ts';
import { joinCluster } from '../packages/server/src/cluster/remote-network.ts';
import type { WakeUps } from '../packages/server/src/cluster/transport.ts';
import { defaultCatalog } from '../packages/server/src/compose/domains.ts';
import { NO_LIMITS } from '../packages/server/src/core/engine/engine-internals.ts';
import {
  ClientToolBroker,
  createEngine,
  type Engine,
  openMemoryBus,
} from '../packages/server/src/core/index.ts';
import { sessionKey } from '../packages/server/src/core/ports/session-ref.ts';
import {
  type Log,
  type ModelCallInfo,
  NO_METER,
  NO_TRACER,
} from '../packages/server/src/core/ports/telemetry.ts';
import { PROJECTED } from '../packages/server/src/dialects/index.ts';
import { SubscriptionHub } from '../packages/server/src/dialects/kit/subscription-hub.ts';
import type { Bus } from './bus.ts';
import { type Effects, type Model, toolsOf } from './model.ts';
import { MAX_QUEUED, MAX_STEPS } from './oracles.ts';
import type { Capabilities } from './plan.ts';
import { type Decisions, projectOf } from './project.ts';
import { checkpointsOf } from './rewind.ts';
import { connect, type Database, type NodeStore, usageOf } from './store.ts';
import { Process, type World } from './world.ts';

export type NodeParts = {
  readonly world: World;
  readonly database: Database;
  readonly bus: Bus;
  readonly model: Model;
  readonly effects: Effects;
  readonly decisions: Decisions;
  readonly can: Capabilities;
  /** sessions that a node keeps in memory; few, so that they are evicted */
  readonly cachedSessions: number;
  readonly turnsAtOnce: number;
};

export const CATALOG = defaultCatalog();

const SWEEP_MS = 500;
const DRAIN_MS = 3_000;

/** Short, so that models are probed during a run. */
const COOL_DOWN_MS = 1_000;

/** One start of a node. It is new with every start, like a process. */
export class SimulatedNode {
  readonly process: Process;
  readonly engine: Engine;
  readonly clients: ClientToolBroker;
  readonly hubs = new Map<string, SubscriptionHub<unknown>>();
  /** serves clients */
  up = false;
  readonly #store: NodeStore;
  readonly #transport: PubSubTransport | null;
  readonly #ended = new Set<() => void>();

  constructor(
    private readonly parts: NodeParts,
    name: string,
  ) {
    const { world, database, bus, model, effects, decisions, can } = parts;
    const process = new Process(world, name);
    const { clock, newId } = process;
    this.process = process;
    this.#store = connect(database, process);
    const log = this.#log();
    const transport = database.shared
      ? new PubSubTransport(
          { node: name, cluster: 'simulated', secret: 'simulated', log, meter: NO_METER, clock },
          bus.open(process),
        )
      : null;
    this.#store.setBusDown(transport !== null);
    transport?.onUp(() => this.#store.setBusDown(false));
    transport?.onDown(() => this.#store.setBusDown(true));
    this.#transport = transport;
    const store = this.#store;
    const wakeUps: WakeUps = {
      get needed() {
        return store.busDown;
      },
      notify: (ref) => database.notify(process, ref),
      listen(listener) {
        database.listen(process, (ref) => listener((one) => sessionKey(one) === sessionKey(ref)));
        return () => undefined;
      },
    };
    this.clients = new ClientToolBroker(clock);
    let called: ModelCallInfo | null = null;
    const { search, turns } = database.sessions;
    const read =
      <Given extends unknown[], Result>(effect: (...given: Given) => Result) =>
      (...given: Given) =>
        database.request(process, 'read', () => effect(...given));
    this.engine = createEngine({
      store: this.#store,
      search: { update: read(() => true), find: read(search) },
      turns: { list: read(turns.list), count: read(turns.count), find: read(turns.find) },
      bus: openMemoryBus(log),
      leases: this.#store.leases,
      ...(transport && {
        cluster: {
          transport,
          join: (member) => joinCluster({ ...member, transport, wakeUps }),
          livingNodes: () => database.request(process, 'read', () => database.livingNodes()),
          onFailover: this.#store.onFailover,
          sweepMs: SWEEP_MS,
        },
      }),
      clients: this.clients,
      provider: model.provider(process, () => called),
      coolDownMs: COOL_DOWN_MS,
      tracer: {
        ...NO_TRACER,
        startModelCall: (info) => {
          called = info;
          return NO_TRACER.startModelCall(info);
        },
      },
      catalog: CATALOG,
      tools: toolsOf(process, effects, can),
      ...(can.limits && { usage: usageOf(database, process), spendLimits: () => can.limits ?? [] }),
      ...(can.rewinds > 0 && { checkpoints: checkpointsOf(process, effects, can.rewinds) }),
      ...(can.instructions && {
        project: projectOf(process, decisions, (kind, effect) => database.request(process, kind, effect)),
      }),
      instructions: 'Be brief.',
      root: '/work',
      approvalMode: 'suggest',
      fullAutoProblem: null,
      context: { strategy: 'threshold', threshold: 0.8 },
      maxSteps: MAX_STEPS,
      parallelCalls: 2,
      turnsAtOnce: parts.turnsAtOnce,
      cachedSessions: parts.cachedSessions,
      limits: { ...NO_LIMITS, inputsQueued: MAX_QUEUED },
      titles: 'native',
      clock,
      now: clock.now,
      newId,
      randomBytes: (length) => Uint8Array.from({ length }, () => process.random.between(0, 255)),
      log,
    });
    for (const { name: dialect, projection } of PROJECTED)
      this.hubs.set(dialect, new SubscriptionHub(this.engine, projection, { log, dialect }));
    void this.#start();
  }

  /** Whether it serves the database as it is since the last failover. */
  get hasNoticed(): boolean {
    return this.#store.timeline === this.parts.database.timeline;
  }

  get name(): string {
    return this.process.name;
  }

  async #start(): Promise<void> {
    await this.#store.join();
    for (;;) {
      const recovered = await this.engine.recover().then(
        () => true,
        () => false,
      );
      if (recovered) break;
      await this.process.sleep(500);
    }
    this.up = true;
    this.process.trace('is up');
  }

  /** Calls the listener when the process ends. */
  onEnded(listener: () => void): () => void {
    this.#ended.add(listener);
    return () => void this.#ended.delete(listener);
  }

  kill(): void {
    if (this.process.ended) return;
    this.process.trace('is killed');
    this.process.kill();
    this.#end();
  }

  /** Stops in an orderly way, as for an upgrade. */
  async drain(): Promise<void> {
    if (this.process.ended || !this.up) return;
    this.process.trace('drains');
    this.up = false;
    await this.engine.drain(DRAIN_MS);
    await this.#store.leave();
    await this.#transport?.close();
    this.process.trace('has stopped');
    this.process.kill();
    this.#end();
  }

  #end(): void {
    this.up = false;
    this.parts.bus.cut(this.process, true);
    this.parts.database.disconnected(this.process);
    for (const listener of [...this.#ended]) listener();
  }

  /** Lines that tell of a bug fail the run; others are in the trace. */
  #log(): Log {
    const { process, parts } = this;
    const line = (data: object, message: string) => {
      const { err, session } = data as { err?: unknown; session?: string };
      process.trace(
        `log: ${message}${session ? ` ${session}` : ''}${err instanceof Error ? `: ${err.message}` : ''}`,
      );
    };
    return {
      debug: () => undefined,
      info: () => undefined,
      warn: line,
      error: (data, message) => {
        line(data, message);
        const { err } = data as { err?: unknown };
        if (err instanceof Error && !['Fault', 'AppendConflict', 'LeaseLost'].includes(err.name))
          parts.world.violate(`${process.name}: ${message}: ${err.stack ?? err.message}`);
      },
    };
  }
}

export const connectionId = (id: string): ConnectionId => id as ConnectionId;
