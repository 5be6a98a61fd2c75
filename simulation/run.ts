/** One run: builds the world of a plan, lets it live with its faults, heals it, and asks the oracles. */
import { type Fault, isDurable, PrincipalId, type SessionEvent, SessionId } from '@parlance/protocol';
import { EMPTY, foldAll } from '../packages/sdk/src/view.ts';
import type { ObservedSession, SessionRef } from '../packages/server/src/core/index.ts';
import { PROJECTED } from '../packages/server/src/dialects/index.ts';
import { Delivery } from '../packages/server/src/dialects/kit/subscription-hub.ts';
import type { Subscriber } from '../packages/server/src/http/connection.ts';
import { Bus } from './bus.ts';
import { Client, discards } from './client.ts';
import { type Effects, Model } from './model.ts';
import { CATALOG, connectionId, type NodeParts, SimulatedNode } from './node.ts';
import { difference, Oracles } from './oracles.ts';
import type { FaultPlan, Plan } from './plan.ts';
import { Decisions } from './project.ts';
import { Database, HEALTHY } from './store.ts';
import { World } from './world.ts';

export type RunResult = {
  readonly plan: Plan;
  readonly violation: string | null;
  readonly trace: readonly string[];
  /** of the log, of all frames and of the trace: equal for equal executions */
  readonly digest: string;
  readonly turns: number;
  readonly commits: number;
  readonly steps: number;
  readonly virtualMs: number;
};

/** How long turns may take to end once nothing fails any more. */
const SETTLE_MS = 240_000;
/** How long the last messages may take to reach the readers: longer than the interval at which nodes announce themselves. */
const CATCH_UP_MS = 45_000;
/** A watched session stays in memory: it is watched on every node only if eviction is not tested. */
const WATCHED_ABOVE = 20;
/** A node that is killed for so long stays away, and a bus that stops for so long. */
const AWAY_MS = 2_500;
const FOR_EVER_MS = 6_000;
/** How long the answer to a read may take. */
const ANSWERED_MS = 3_000;
/** How long nodes may take to notice a failover, and how long most of their reads may fail before. */
const NOTICED_MS = 11_000;
const BLIND_MS = 3_000;
const OWNER = PrincipalId.parse('person');

export function run(plan: Plan): RunResult {
  return new Run(plan).execute();
}

class Run {
  readonly #world: World;
  readonly #oracles: Oracles;
  readonly #database: Database;
  readonly #bus: Bus;
  readonly #model: Model;
  readonly #parts: NodeParts;
  readonly #nodes: SimulatedNode[] = [];
  readonly #clients: Client[] = [];
  readonly #frames: string[] = [];
  readonly #erased = new Set<string>();
  /** the last event that each node has shown to those who watch a session there */
  readonly #shown = new Set<{ readonly node: SimulatedNode; readonly ref: SessionRef; seq: number }>();
  #starts = 0;
  #hasFailedOver = false;
  /** until then, a driver may answer from memory, because it could not read */
  #unreadUntil = 0;
  #busIsGone = false;

  constructor(private readonly plan: Plan) {
    const world = new World(plan.seed);
    this.#world = world;
    const firstAgent = CATALOG.first(CATALOG.defaultDomain);
    this.#oracles = new Oracles(world, (ref) => this.#database.log(ref), firstAgent, plan);
    this.#database = new Database(world, plan.nodes > 1, this.#oracles.committed, (ref) => {
      this.#erased.add(ref.id);
      this.#oracles.erased(ref);
    });
    this.#bus = new Bus(world);
    const effects: Effects = {
      failed: (call) => this.#oracles.failed(call),
      stored: (call) => this.#oracles.stored(call),
      restored: (node, ref, rewind) => this.#oracles.restored(node.name, ref, rewind),
      modelFailed: (node, model) => this.#oracles.modelFailed(node.name, model),
      modelCalled: ({ name, clock }, call) =>
        this.#oracles.modelCalled(name, this.#database.driverOf(call.ref), { ...call, now: clock.now() }),
      happened: ({ name }, tool, { owner, session, call }) =>
        this.#oracles.happened(name, tool, { ref: { owner, id: session }, call }),
    };
    const { cachedSessions, turnsAtOnce, can } = plan;
    this.#model = new Model(effects, can);
    this.#parts = {
      world,
      database: this.#database,
      bus: this.#bus,
      model: this.#model,
      effects,
      decisions: new Decisions(world),
      can,
      cachedSessions,
      turnsAtOnce,
    };
  }

  execute(): RunResult {
    const { plan } = this;
    const world = this.#world;
    for (let index = 0; index < plan.nodes; index++) this.#startNode(index);
    world.run(3_000, () => this.#up().length === plan.nodes);
    for (const { name, sessions, pace } of plan.clients)
      this.#clients.push(
        new Client(
          {
            world,
            oracles: this.#oracles,
            nodes: () => this.#up(),
            isRefusal: ({ code }: Fault) => code !== 'storage_unavailable' || plan.nodes === 1,
            mayForget: () => this.#hasFailedOver,
            mayLag: () => world.now < this.#unreadUntil,
          },
          name,
          sessions.map(refOf),
          { ...plan, pace },
        ),
      );
    for (const [index, number] of plan.watched.entries()) this.#watchDialect(index, number);
    for (const fault of plan.faults) world.after(fault.at, () => this.#inject(fault));
    world.run(world.now + plan.activeMs + 1_000);
    if (!world.violation) this.#settle();
    return {
      plan,
      violation: world.violation?.message ?? null,
      trace: world.lines,
      digest: this.#digest(),
      turns: this.#oracles.turns,
      commits: this.#oracles.commits,
      steps: world.steps,
      virtualMs: world.now,
    };
  }

  #up(): SimulatedNode[] {
    return this.#nodes.filter(({ up, process }) => up && !process.paused);
  }

  #living(): SimulatedNode[] {
    return this.#nodes.filter(({ process }) => !process.ended);
  }

  #startNode(index: number): void {
    const node = new SimulatedNode(this.#parts, `n${index + 1}.${++this.#starts}`);
    this.#nodes[index] = node;
    if (this.plan.cachedSessions > WATCHED_ABOVE)
      for (const number of new Set(this.plan.clients.flatMap(({ sessions }) => sessions)))
        this.#world.after(50, () => this.#watchEvents(node, refOf(number)), node.process);
  }

  // Faults.

  #inject(fault: FaultPlan): void {
    const world = this.#world;
    const { faults: store } = this.#database;
    const { faults: bus } = this.#bus;
    const node = this.#nodes[fault.node];
    if (!node) return;
    const later = (heal: () => void) => void world.after(fault.forMs, heal);
    world.trace('FAULT', `${fault.kind} ${'node' in fault ? node.name : ''} for ${fault.forMs} ms`);
    switch (fault.kind) {
      case 'kill':
      case 'kill at commit': {
        const kill = () => {
          node.kill();
          // Some never come back, if others are there to take over.
          if (fault.forMs < AWAY_MS || this.#up().length === 0)
            later(() => node === this.#nodes[fault.node] && this.#startNode(fault.node));
        };
        if (fault.kind === 'kill') kill();
        else this.#database.atCommit(node.name, () => world.after(0, kill));
        return;
      }
      case 'drain':
        node.onEnded(() =>
          world.after(50, () => node === this.#nodes[fault.node] && this.#startNode(fault.node)),
        );
        world.after(0, () => void node.drain(), node.process);
        return;
      case 'pause':
        node.process.pause(fault.forMs);
        return;
      case 'skew':
        node.process.skewMs = fault.ms;
        return;
      case 'cut':
        this.#bus.cut(node.process, true);
        later(() => node.process.ended || this.#bus.cut(node.process, false));
        return;
      case 'bus stops':
        this.#bus.stop();
        if (fault.forMs < FOR_EVER_MS) later(() => this.#bus.start());
        else this.#busIsGone = true;
        return;
      case 'bus fails': {
        const { drop, repeat, reorder, slow } = fault;
        Object.assign(bus, { drop, repeat, reorder, slow });
        later(() => Object.assign(bus, { drop: 0, repeat: 0, reorder: 0, slow: 1 }));
        return;
      }
      case 'store stops':
        store.down = true;
        later(() => {
          store.down = false;
        });
        return;
      case 'store full':
        store.full = true;
        later(() => {
          store.full = false;
        });
        return;
      case 'store slow':
        store.slow = fault.factor;
        later(() => {
          store.slow = 1;
        });
        return;
      case 'store fails': {
        const { refused, lost, late, unread } = fault;
        if (unread > 0) this.#unreadUntil = world.now + fault.forMs + ANSWERED_MS;
        Object.assign(store, { refused, lost, late, unread });
        later(() => Object.assign(store, { refused: 0, lost: 0, late: 0, unread: 0 }));
        return;
      }
      case 'store picks': {
        const { type, how } = fault;
        store.picked = { type, how };
        later(() => {
          store.picked = null;
        });
        return;
      }
      case 'failover':
        this.#database.saveForFailover();
        world.after(Math.min(fault.forMs, 900), () => {
          store.down = true;
          this.#hasFailedOver = true;
          this.#oracles.suspended = true;
          world.after(NOTICED_MS, () => {
            this.#oracles.suspended = false;
          });
          for (const { ref, events } of this.#database.failover()) this.#oracles.lost(ref, events);
          world.after(300, () => {
            store.down = false;
            // The nodes often cannot read what tells them of the new server, while they can write to it.
            if (fault.at % 2 === 1) return;
            store.unread = 0.8;
            this.#unreadUntil = world.now + BLIND_MS + ANSWERED_MS;
            world.after(BLIND_MS, () => {
              store.unread = 0;
            });
          });
        });
    }
  }

  #heal(): void {
    const world = this.#world;
    world.trace('HEAL', 'no more faults, no more messages');
    Object.assign(this.#database.faults, HEALTHY);
    this.#database.clearTraps();
    Object.assign(this.#bus.faults, { drop: 0, repeat: 0, reorder: 0, slow: 1 });
    if (!this.#busIsGone) this.#bus.start();
    this.#model.lively = false;
    for (const client of this.#clients) client.stop();
    for (const [index, node] of this.#nodes.entries()) {
      this.#bus.cut(node.process, node.process.ended);
      if (node.process.ended && this.#up().length === 0) this.#startNode(index);
    }
  }

  // The end.

  #settle(): void {
    const world = this.#world;
    world.run(
      world.now + NOTICED_MS + 2_000,
      () => this.#nodes.every(({ process }) => !process.paused) && !this.#oracles.suspended,
    );
    this.#heal();
    const isSettled = () =>
      this.refs.every((ref) => this.#isIdle(ref)) &&
      this.#living().every(({ up, engine }) => up && engine.running === 0);
    let idleSince = Number.POSITIVE_INFINITY;
    world.run(world.now + SETTLE_MS, () => {
      if (!isSettled()) idleSince = Number.POSITIVE_INFINITY;
      else if (idleSince === Number.POSITIVE_INFINITY) idleSince = world.now;
      return world.now - idleSince > 2_000;
    });
    if (world.violation) return;
    if (!isSettled()) world.violate(this.#stall());
    for (const { watchers } of this.#clients)
      for (const watcher of watchers) if (!watcher.connected) watcher.connect(this.#up()[0] ?? null);
    world.run(world.now + CATCH_UP_MS);
    if (world.violation) return;
    this.#oracles.finish(
      this.refs.filter((ref) => this.#database.sessions.load(ref)),
      this.#database.usage.spent({}).tokens,
    );
    for (const client of this.#clients) client.checkAnswered();
    this.#checkViews();
    this.#checkNodes();
  }

  get refs(): SessionRef[] {
    return this.#database.refs();
  }

  #isIdle(ref: SessionRef): boolean {
    const record = this.#database.sessions.load(ref);
    return !record || record.status === 'idle' || record.status === 'failed';
  }

  #stall(): string {
    const sessions = this.refs.filter((ref) => !this.#isIdle(ref));
    const states = sessions.map((ref) => {
      const { status, head } = this.#database.sessions.load(ref) ?? {};
      return `${ref.id} is ${status} at event ${head}, driven by ${this.#database.driverOf(ref)?.node ?? 'nobody'}`;
    });
    const nodes = this.#living()
      .filter(({ up, engine }) => !up || engine.running > 0)
      .map(({ name, up, engine }) => `${name} ${up ? `runs ${engine.running} turns` : 'is not up'}`);
    return `stalled for ${SETTLE_MS / 1_000} s without faults: ${[...states, ...nodes].join('; ')}`;
  }

  /** Every chat window shows what the log says. */
  #checkViews(): void {
    // A reader cannot know that other events have taken the numbers of those that it was shown.
    if (this.#hasFailedOver) return;
    for (const { name, watchers } of this.#clients)
      for (const { ref, view, connected } of watchers) {
        // The number of an event does not tell a session from one that was erased and created again.
        if (this.#erased.has(ref.id)) continue;
        const expected = foldAll(EMPTY, this.#database.log(ref));
        if (!connected) this.#world.violate(`${ref.id}: ${name} cannot connect`);
        if (expected.seq > 0 && view.seq !== expected.seq)
          this.#world.violate(`${ref.id}: ${name} shows event ${view.seq}, but the log has ${expected.seq}`);
        else if (expected.seq > 0 && JSON.stringify(view) !== JSON.stringify(expected))
          this.#world.violate(
            `${ref.id}: ${name} shows another conversation than the log: ${difference(view, expected)}`,
          );
      }
  }

  /** Nothing is left over: no turn, no waiting session, and each node knows the whole log and has shown it. */
  #checkNodes(): void {
    const world = this.#world;
    for (const { node, ref, seq } of this.#shown) {
      const head = this.#database.sessions.head(ref);
      if (!node.process.ended && seq < head && !this.#hasFailedOver && !this.#erased.has(ref.id))
        world.violate(`${ref.id}: ${node.name} has shown event ${seq} of ${head} to those who watch`);
    }
    for (const { name, hasNoticed } of this.#living())
      if (!hasNoticed) world.violate(`${name} has not noticed that another server of the database took over`);
    for (const { engine, process, name } of this.#living())
      for (const ref of this.refs.filter(({ id }) => !this.#erased.has(id)))
        world.after(
          0,
          () =>
            void engine.snapshot(ref).then((snapshot) => {
              const { seq, turn, open, queued, approvals, deferred, questions } = snapshot;
              const head = this.#database.sessions.head(ref);
              if (
                seq !== head ||
                turn ||
                open ||
                queued ||
                approvals.length + deferred.length + questions.length > 0
              )
                world.violate(
                  `${ref.id}: ${name} is at event ${seq} of ${head} with ${JSON.stringify({ turn, open, queued, approvals, deferred, questions })}`,
                );
              const differs = difference(snapshot, this.#oracles.shown(ref));
              if (differs) world.violate(`${ref.id}: ${name} shows something else than the log: ${differs}`);
            }),
          process,
        );
    world.run(world.now + 5_000);
  }

  /** On every node, the pieces of a text join to the text, and a cancelled turn keeps what it has shown. */
  #watchEvents(node: SimulatedNode, ref: SessionRef): void {
    const { engine, name } = node;
    const texts = new Map<string, string>();
    const shown = { node, ref, seq: 0 };
    const fail = (message: string) => this.#world.violate(`${ref.id}: on ${name}, ${message}`);
    const sink = (event: SessionEvent) => {
      if (isDurable(event)) shown.seq = event.seq;
      if (event.type === 'text.delta' || event.type === 'reasoning.delta') {
        texts.set(event.block, (texts.get(event.block) ?? '') + event.text);
      } else if (event.type === 'text.ended' || event.type === 'reasoning.ended') {
        const text = texts.get(event.block) ?? '';
        // Another node that interrupts a turn stores what it knows of the text, if it cannot ask the driver.
        if (text !== event.text && !(event.interrupted && text.startsWith(event.text)))
          fail(`"${text.slice(-60)}" was shown of the text "${event.text.slice(-60)}"`);
        texts.delete(event.block);
      } else if (event.type === 'turn.cancelled' && texts.size > 0 && this.plan.nodes === 1)
        fail(`the cancelled turn has lost "${[...texts.values()].join()}", which was shown`);
      if (event.type === 'step.ended' && texts.size > 0 && !this.#hasFailedOver)
        fail(`a step ends, but "${[...texts.values()].join()}" has neither ended nor been discarded`);
      if (discards(event)) texts.clear();
    };
    const begin = ({ snapshot }: Pick<ObservedSession, 'snapshot'>) => {
      const { open, seq } = snapshot();
      shown.seq = seq;
      if (open) texts.set(open.block, open.text);
    };
    engine.watch(ref, sink, { begin }).then(
      () => this.#shown.add(shown),
      () => undefined,
    );
  }

  /** A subscriber of any dialect. Its projection must not throw, and a new subscriber sees what it sees. */
  #watchDialect(index: number, number: number): void {
    const dialect = PROJECTED[number % PROJECTED.length];
    const node = this.#nodes[index % this.#nodes.length];
    const hub = dialect && node?.hubs.get(dialect.name);
    if (!dialect || !hub || !node) return;
    const subscriber: Subscriber = {
      id: connectionId(`${dialect.name}-${index}`),
      open: true,
      send: (text) => void this.#frames.push(text),
      close: () => undefined,
    };
    const delivery = new Delivery(dialect.projection, QUIET);
    const watch = async () => {
      await hub.subscribe(refOf(1), subscriber);
      const projected = await hub.observe(refOf(1));
      for (;;) {
        await node.process.sleep(node.process.random.between(50, 500));
        const [observed] = hub.observed(subscriber);
        if (!observed) return;
        const [shown, joined] = [projected.state(), delivery.stateOf(observed)].map((state) =>
          // The id of an answer that started over may differ: only those who saw its first text need another one.
          JSON.stringify(delivery.attach(state, observed)).replace(/"messageId":"[^"]*"/g, ''),
        );
        if (shown !== joined && !READ_BY_TURN.includes(dialect.name))
          this.#world.violate(
            `s1: a client of ${dialect.name} that joins is sent ${joined}, but those that are there have ${shown}`,
          );
      }
    };
    this.#world.after(10 * index, () => void watch().catch(() => undefined), node.process);
  }

  #digest(): string {
    const hash = new Bun.CryptoHasher('sha256');
    for (const ref of this.refs) hash.update(JSON.stringify(this.#database.log(ref)));
    for (const frame of this.#frames) hash.update(frame);
    for (const line of this.#world.lines) hash.update(line);
    for (const { watchers } of this.#clients)
      for (const { view } of watchers) hash.update(JSON.stringify(view));
    return hash.digest('hex');
  }
}

/** Their clients read one turn with `TurnReader` instead of joining a session. */
const READ_BY_TURN: readonly string[] = ['agui', 'aisdk'];

const nothing = () => undefined;
const QUIET = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const refOf = (number: number): SessionRef => ({ owner: OWNER, id: SessionId.parse(`s${number}`) });
