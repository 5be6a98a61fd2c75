/**
 * One session in memory. All changes go through `transact`, one at a time: decide on the current state, store
 * the events, then update the state and publish. What it shares with other nodes is in its collaborators: `role`
 * (whether this node drives the session) and `link` (the nodes that watch it).
 */
import {
  type AgentRef,
  asFault,
  type DurableEvent,
  type DurableEventBody,
  type EphemeralEvent,
  type EphemeralEventBody,
  parseDurableEvent,
  type TurnId,
} from '@parlance/protocol';
import {
  AppendConflict,
  type EventStore,
  type SessionLog,
  type SessionRecord,
  type SessionRef,
} from '../ports/event-store.ts';
import { type Driver, type Lease, LeaseLost, type Leases } from '../ports/lease.ts';
import type { ProjectContent } from '../ports/project.ts';
import type { Log } from '../ports/telemetry.ts';
import { checkpointOf, recordOf, restoredState } from '../session/checkpoint.ts';
import { contextCharacters, EMPTY, evolveContext, type ModelContext } from '../session/context.ts';
import { evolve } from '../session/evolve.ts';
import { initialState, isIdle, type SessionState, statusOf } from '../session/session-state.ts';
import { usageEntry } from '../session/spending.ts';
import type { Bus, Channel } from './bus.ts';
import { storedEvents } from './event-pages.ts';
import {
  closesBlock,
  type Delta,
  followedBlock,
  missingDelta,
  OpenArguments,
  type OpenBlock,
} from './open-output.ts';
import {
  type Authority,
  type Committed,
  DriverRole,
  type SessionLink,
  type SessionNetwork,
} from './session-link.ts';
import { type ObservedSession, type RunStatus, runStatus, snapshotOf } from './snapshot.ts';
import { type ResumeEvent, restartOf, TurnAbort } from './turn-abort.ts';

/** The dependencies of a session in memory. */
export type SessionSources = {
  readonly store: EventStore;
  readonly bus: Bus<ObservedSession>;
  readonly leases: Leases;
  /** whether other nodes may write to the same sessions */
  readonly shared: boolean;
  readonly network?: SessionNetwork;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
  /** called with stored events and the state before them */
  readonly onCommitted?: (ref: SessionRef, events: readonly DurableEvent[], before: SessionState) => void;
};

/** Labels to store in the append that ends the turn; null for none. All output of the turn has been published. */
export type TurnLabeller = (turn: TurnId) => Readonly<Record<string, string>> | null;

type Decide = (state: SessionState) => readonly DurableEventBody[];

type Written =
  | { readonly change: Change; readonly driver: Driver | null }
  | { readonly change: null }
  | { readonly refusal: unknown };

/** After this many conflicts, a change is decided with exclusive access to the session. */
const MAX_CONFLICTS = 3;

export class Session {
  // Everything except streaming text is derived from the log.
  state: SessionState;
  open: OpenBlock | null = null;
  readonly openArguments = new OpenArguments();
  /** events since the session was last idle: enough to bring any projection up to date */
  eventsSinceIdle: DurableEvent[] = [];
  messageCountAtIdle = 0;
  /** after the last complete append: between its events, a session can look as if it waited */
  status: RunStatus = { kind: 'idle' };
  readonly observed: ObservedSession = {
    snapshot: () => snapshotOf(this),
    eventsSinceIdle: () => this.eventsSinceIdle,
    status: () => this.status,
  };
  readonly channel: Channel<ObservedSession>;
  readonly role: DriverRole;
  /** connection to the nodes that watch the session; null if there are none */
  link: SessionLink | null = null;
  /** whether it is in the run queue */
  driving = false;
  /** set while a turn is interrupted by a process exit or a failing store */
  interrupted: ResumeEvent | null = null;
  /** another node is about to end the turn */
  held = false;
  /** instructions and skills of the turn that last ran here */
  project: (ProjectContent & { readonly turn: TurnId }) | null = null;
  /** null until the first read; current afterwards */
  loadedContext: ModelContext | null = null;
  /** the store was unavailable when the turn last ran */
  outage = false;
  /** asked for labels to store with the end of a turn */
  readonly labellers = new Set<TurnLabeller>();
  /** identifies the events after number `after` up to the current one */
  #trail: { readonly after: number; digest: bigint } = { after: 0, digest: 0n };
  /** id of the last event; undefined if it is not known */
  #lastId: string | undefined;
  /** an append has failed, but may be stored */
  #isUncertain = false;
  /** the database has failed over, and the events have not been compared with it yet */
  #isUnsure = false;
  #checkpoint: SessionRecord['checkpoint'] = null;
  #measured: { readonly context: ModelContext | null; readonly characters: number } = {
    context: null,
    characters: 0,
  };
  readonly #changes = new SerialQueue();
  readonly #abort = new TurnAbort();

  private constructor(
    readonly ref: SessionRef,
    private readonly agent: AgentRef,
    private readonly sources: SessionSources,
  ) {
    this.state = initialState(agent);
    this.channel = sources.bus.channel(ref);
    this.role = new DriverRole(ref, sources.leases);
  }

  /** Loads the session from the store, up to event number `upTo`. A session that does not exist is empty. */
  static async load(
    ref: SessionRef,
    { agent, upTo }: { readonly agent: AgentRef; readonly upTo: number },
    sources: SessionSources,
  ): Promise<Session> {
    const session = new Session(ref, agent, sources);
    session.link = sources.network?.link(session) ?? null;
    const record = await sources.store.load(ref);
    if (!record) {
      session.#clear();
      return session;
    }
    const restored = restoredState(record.checkpoint);
    if (restored) session.#checkpoint = checkpointOf(restored);
    if (restored && restored.seq <= upTo) {
      session.state = restored;
      session.messageCountAtIdle = restored.messageCount;
    }
    // Read the checkpoint's last event as well: after a failover, its id shows whether the store still has
    // it.
    const after = sources.shared ? Math.max(0, session.state.seq - 1) : session.state.seq;
    session.#trail = { after, digest: 0n };
    for await (const event of session.events(after)) {
      if (event.seq > upTo) break;
      if (event.seq > session.state.seq) session.#apply(event);
      else session.#passed(event);
    }
    session.status = runStatus(session.state);
    session.#resumeTurn();
    return session;
  }

  /** The stored events after sequence number `after`. */
  events(after: number): AsyncGenerator<DurableEvent> {
    return storedEvents(this.sources.store, this.ref, after);
  }

  /** The context for the next model request: read from the log once, then updated by each event. */
  async context(): Promise<ModelContext> {
    while (!this.loadedContext) {
      const { seq, readFrom } = this.state;
      let context = EMPTY;
      for await (const event of this.events(Math.max(0, readFrom - 1)))
        if (event.seq <= seq) context = evolveContext(context, event);
      if (seq === this.state.seq) this.loadedContext = context;
    }
    return this.loadedContext;
  }

  /** about its size in memory */
  get characters(): number {
    const { loadedContext: context } = this;
    if (context !== this.#measured.context)
      this.#measured = { context, characters: context ? contextCharacters(context) : 0 };
    return this.#measured.characters;
  }

  /** Drops streamed text that could not be recorded: its step runs again. */
  voidStreamed(): void {
    this.open = null;
    this.openArguments.clear();
  }

  /** On the token path: no promise, no parse, no copy. */
  publish(body: EphemeralEventBody): void {
    const event = body as EphemeralEvent;
    event.session = this.ref.id;
    event.id = this.sources.newId();
    event.at = this.sources.now();
    this.channel.publish(event, this.observed);
    this.link?.publish(event);
  }

  // Changes.

  /**
   * Decides on the state after all earlier changes and stores the events. Returns the events, or none if `decide` returns
   * none. Rejects with the error that `decide` throws; nothing has changed then. If the events cancel the turn, it is aborted
   * before they are stored; if they cannot be stored, it continues. If another node has appended to the session, its
   * events are applied first and `decide` runs again. Rejects with `LeaseLost` if `authority` is the driver's and another
   * node drives the session.
   */
  transact(decide: Decide, authority: Authority = 'driver'): Promise<DurableEvent[]> {
    return this.#changes.run(() => this.#decided(decide, authority));
  }

  /** Resolves when every earlier change is done. */
  settled(): Promise<void> {
    return this.#changes.settled();
  }

  /** Deletes the session and notifies its subscribers. False if there was none. */
  erase(by: string): Promise<boolean> {
    return this.#changes.run(async () => {
      this.abandon();
      const erased = await this.sources.store.erase(this.ref);
      this.#forget();
      if (erased) this.publish({ type: 'session.erased', by });
      return erased;
    });
  }

  async #decided(decide: Decide, authority: Authority): Promise<DurableEvent[]> {
    if (this.#isUnsure) await this.#compared();
    if (authority === 'driver' && !this.role.holdsLease) {
      if (decide(this.state).length === 0) return [];
      // A turn that was waiting for an answer has released its lease.
      if (this.role.isRemote || !(await this.role.claim())) throw new LeaseLost(this.ref, this.role.epoch);
    }
    let compared = !this.sources.shared;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
      const written = await this.#write(decide, authority).catch((thrown) => {
        if (thrown instanceof AppendConflict) return thrown;
        throw thrown;
      });
      if (written instanceof AppendConflict) {
        conflicts++;
        // The session may also have been erased and created again, up to the same number.
        if (!(await this.#moved()) && !(await this.#isOther())) throw written;
      } else if (!('refusal' in written)) return this.#committed(written);
      // Another node may have changed the state since the refusal: decide once more on the current one.
      else if (compared || !(await this.#moved())) throw written.refusal;
      else compared = true;
    }
    const written = await this.sources.store.exclusively(this.ref, async (log) => {
      await this.#catchUp(log);
      return this.#write(decide, authority, log);
    });
    if ('refusal' in written) throw written.refusal;
    return this.#committed(written);
  }

  /**
   * Synchronous until the append starts, so that nothing is streamed between a decision that ends a turn and
   * its abort.
   */
  async #write(decide: Decide, authority: Authority, log: SessionLog = this.sources.store): Promise<Written> {
    let bodies: readonly DurableEventBody[];
    try {
      bodies = decide(this.state);
    } catch (refusal) {
      return { refusal };
    }
    if (bodies.length === 0) return { change: null };
    const change = changeOf(this, bodies, { ...this.sources, checkpoint: this.#checkpoint });
    const resume = this.#abort.byEvents(change.events);
    try {
      const role = this.role.appendAs(authority);
      const as = this.sources.shared && this.#lastId !== undefined ? { ...role, last: this.#lastId } : role;
      return { change, driver: await log.append(change.before.seq, change.events, change.record, as) };
    } catch (thrown) {
      // The turn continues, but its model has been stopped: readers discard what it has shown.
      if (resume() && this.state.turn && this.driving)
        this.interrupted ??= restartOf(this.state.turn, this.open !== null);
      if (thrown instanceof LeaseLost) this.#lost();
      if (this.isOutage(thrown)) {
        this.#isUncertain = true;
        this.link?.unsure();
      }
      throw thrown;
    }
  }

  #committed(written: Exclude<Written, { refusal: unknown }>): DurableEvent[] {
    if (!written.change) return [];
    const { before, events, states, record } = written.change;
    const after = this.#lastId;
    this.#checkpoint = record.checkpoint;
    this.#isUncertain = false;
    for (const [index, event] of events.entries()) {
      this.#apply(event, states[index]);
      this.channel.publish(event, this.observed);
    }
    this.#announce(events);
    this.role.acquiredBy(written.driver);
    if (this.role.isRemote) this.#abort.now();
    this.link?.committed({ events, driver: written.driver, after });
    try {
      this.sources.onCommitted?.(this.ref, events, before);
    } catch (thrown) {
      // A failing metric must not stop the session.
      this.sources.log.error({ err: thrown, session: this.ref.id }, 'metrics failed');
    }
    return events;
  }

  #passed(event: DurableEvent): void {
    this.#trail.digest = withEvent(this.#trail.digest, event);
    this.#lastId = event.id;
  }

  #apply(event: DurableEvent, state = evolve(this.state, event)): void {
    this.state = state;
    this.#passed(event);
    if (this.loadedContext) this.loadedContext = evolveContext(this.loadedContext, event);
    if (closesBlock(event, this.open)) this.open = null;
    this.openArguments.apply(event);
    if (isIdle(this.state)) {
      this.eventsSinceIdle = [];
      this.messageCountAtIdle = this.state.messageCount;
    } else this.eventsSinceIdle.push(event);
    if (statusOf(this.state) === 'running') return;
    this.interrupted = null;
    this.role.becameIdle();
  }

  /** The events of one append, or of several, are published: tells what the session does after them. */
  #announce(events: readonly DurableEvent[]): void {
    this.status = runStatus(this.state);
    this.channel.commit(events, this.observed);
  }

  /** Resets to a session that is not in the store. */
  #clear(): void {
    this.state = initialState(this.agent);
    this.status = { kind: 'idle' };
    this.#trail = { after: 0, digest: 0n };
    this.#lastId = undefined;
    this.voidStreamed();
    this.eventsSinceIdle = [];
    this.messageCountAtIdle = 0;
    this.loadedContext = EMPTY;
  }

  #forget(): void {
    this.#clear();
    this.role.acquiredBy(null);
    this.interrupted = null;
    this.#checkpoint = null;
    this.#abort.reset();
  }

  // The running turn.

  /** Aborted when the turn is cancelled or superseded, as soon as that is decided. */
  signal(turn: TurnId): AbortSignal {
    // An abandoned action has stopped by now if nothing is driving.
    if (!this.driving) this.#abort.resume();
    return this.#abort.signal(turn);
  }

  /** Stops the running action without recording anything: the turn resumes from the log. */
  abandon(): void {
    this.#abort.now();
  }

  get abandoned(): boolean {
    return this.#abort.abandoned;
  }

  /** Allows an abandoned action to start again. */
  resume(): void {
    this.held = false;
    this.#abort.resume();
  }

  /**
   * Whether the error is an outage of a store that several nodes share: the store is restarting or failing
   * over, and the turn continues when it is back.
   */
  isOutage(thrown: unknown): boolean {
    return this.sources.shared && asFault(thrown).code === 'storage_unavailable';
  }

  /** Whether it can be evicted from memory: nothing runs, watches or follows it. */
  get idle(): boolean {
    return !this.driving && !this.channel.watched && !this.link?.followed;
  }

  /** Call when the session is evicted from memory. */
  close(): void {
    this.link?.close();
  }

  #resumeTurn(): void {
    const { turn } = this.state;
    if (turn && statusOf(this.state) === 'running')
      this.interrupted = { type: 'turn.resumed', turn: turn.id };
  }

  // Events of other nodes.

  /** Applies events that another node has appended. */
  async refresh(): Promise<void> {
    await this.#changes.run(() => this.#catchUp());
  }

  /**
   * Applies events that another node has appended, if several nodes share the store, so that a read sees all
   * acknowledged writes. The driver answers from memory if the store is unavailable.
   */
  async fresh(): Promise<void> {
    if (!this.sources.shared) return;
    const { isDriver } = this.role;
    await this.compare().catch((thrown) => {
      if (!isDriver || !this.isOutage(thrown)) throw thrown;
    });
  }

  /** Applies stored events that are not in memory yet. */
  async compare(): Promise<void> {
    await this.#changes.run(async () => {
      await this.#compared();
      await this.#moved();
    });
  }

  /**
   * Call after a database failover: the store may lack the last events or have different ones in their place. If it cannot be
   * read, nothing is decided until it has been compared.
   */
  async compareAll(): Promise<void> {
    this.#isUnsure = true;
    await this.#changes.run(() => this.#compared());
  }

  async #compared(): Promise<void> {
    if (!this.#isUnsure) return;
    if (!(await this.#isOther())) await this.#catchUp();
    this.#isUnsure = false;
  }

  /**
   * Whether the store has other events in the place of those in memory, all of which are compared: a decision on
   * lost events may have been stored after different ones. If so, applies the stored ones.
   */
  async #isOther(): Promise<boolean> {
    let digest = 0n;
    for await (const event of this.events(this.#trail.after))
      if (event.seq <= this.state.seq) digest = withEvent(digest, event);
    if (digest === this.#trail.digest) return false;
    this.#startAgain();
    await this.#catchUp();
    return true;
  }

  /** Applies durable events received from the node that stored them; reads the store if there is a gap. */
  async received({ events, driver, after }: Committed): Promise<void> {
    await this.#changes.run(async () => {
      await this.#compared();
      const before = (events[0]?.seq ?? 1) - 1;
      const isOther = after !== undefined && this.#contradicts({ seq: before, id: after });
      if (isOther || events.some((event) => this.#contradicts(event))) await this.#isOther();
      const [first] = events.filter(({ seq }) => seq > this.state.seq);
      // A driver trusts only the store, not messages.
      if (first && (this.role.isDriver || first.seq !== this.state.seq + 1)) await this.#catchUp();
      else if (first) {
        for (const event of events) if (event.seq === this.state.seq + 1) this.#follow(event);
        this.#announce(events.slice(events.indexOf(first)));
      }
      if (!this.driving && first) this.#resumeTurn();
      if (this.role.isReplacedBy(driver)) this.#lost();
    });
  }

  /** Shows a part of a block that another node streams. */
  show(event: Delta, text = event.text): void {
    this.open = this.open?.block === event.block ? this.open : followedBlock(event);
    this.open.text.add(text);
    this.channel.publish(text === event.text ? event : { ...event, text }, this.observed);
  }

  /** Another node has erased the session. It may have been created again since: only the store knows. */
  async erasedElsewhere(event: EphemeralEvent<'session.erased'>): Promise<void> {
    await this.#changes.run(async () => {
      if ((await this.sources.store.head(this.ref)) > 0) {
        await this.#isOther();
        return;
      }
      this.#forget();
      this.channel.publish(event, this.observed);
    });
  }

  /** Forwards an ephemeral event of another node. */
  pass(event: EphemeralEvent): void {
    if (event.type === 'call.arguments.delta') this.openArguments.add(event);
    this.channel.publish(event, this.observed);
  }

  /** Catches up if the log has changed; otherwise costs one cheap read. */
  async #moved(): Promise<boolean> {
    const head = await this.sources.store.head(this.ref);
    if (head === this.state.seq) return false;
    if (head < this.state.seq) this.#startAgain();
    await this.#catchUp();
    return true;
  }

  /**
   * The session was erased by another node, or the store has lost its last events: subscribers start over.
   */
  #startAgain(): void {
    const { newId, now } = this.sources;
    this.#forget();
    const event = {
      type: 'session.erased',
      by: 'server',
      session: this.ref.id,
      id: newId(),
      at: now(),
    } as const;
    this.channel.publish(event, this.observed);
  }

  /** Whether another event has the number of the last one in memory, which is lost then. */
  #contradicts({ seq, id }: Pick<DurableEvent, 'seq' | 'id'>): boolean {
    return seq === this.state.seq && this.#lastId !== undefined && id !== this.#lastId;
  }

  /** False if there was nothing new; the log may also be shorter than the state in memory. */
  async #catchUp(log: SessionLog = this.sources.store): Promise<boolean> {
    const events: DurableEvent[] = [];
    const { holdsLease } = this.role;
    // With the last event, which another one may have replaced.
    const after = this.sources.shared ? Math.max(0, this.state.seq - 1) : this.state.seq;
    for await (const event of storedEvents(log, this.ref, after)) {
      if (this.#contradicts(event)) {
        this.#startAgain();
        await this.#catchUp(log);
        return true;
      }
      if (event.seq <= this.state.seq) continue;
      // A page may end within an append: what the session does is known after the last page.
      this.status = { kind: 'running' };
      this.#follow(event);
      events.push(event);
    }
    // Without new events, the status can be that of a read that failed after a page.
    if (events.length > 0 || runStatus(this.state).kind !== this.status.kind) this.#announce(events);
    if (events.length === 0) return false;
    // They can be our own, which nobody has sent.
    if (this.#isUncertain) this.link?.tell();
    this.#isUncertain = false;
    // Another node has continued the turn up to a question: nobody holds the lease while it waits.
    if (holdsLease && !this.role.holdsLease) this.#abort.now();
    else if (this.role.holdsLease && events.some(mayMoveLease)) await this.#checkLease();
    if (!this.driving) this.#resumeTurn();
    return true;
  }

  /**
   * Another node that ends or continues a turn takes the lease. An event can also be our own, if the response to its
   * append was lost, so only the store knows who drives the session now.
   */
  async #checkLease(): Promise<void> {
    const { leases } = this.sources;
    const driver = await leases.driverOf(this.ref);
    if (driver?.node !== leases.node || driver.epoch !== this.role.epoch) this.#lost();
  }

  /**
   * Applies an event of another node. If it ends a block, first publishes the text that subscribers have not
   * received.
   */
  #follow(event: DurableEvent): void {
    const missing = this.sources.shared ? missingDelta(event, this.open, this.sources.newId()) : null;
    if (missing) this.show(missing);
    this.#abort.byEvents([event]);
    this.#apply(event);
    this.channel.publish(event, this.observed);
  }

  // Which node drives the session.

  /**
   * Claims the lease if this node does not hold it, and applies events that others have appended. False if
   * another node drives the session.
   */
  async claim(): Promise<boolean> {
    if (this.role.holdsLease) return true;
    const lease = await this.sources.leases.claim(this.ref);
    if (lease) await this.#acquired(lease);
    else this.role.leaseLost();
    return lease !== null;
  }

  /** Releases the lease if the session has no work left, or if this node is stopping. */
  async release(stopping: boolean): Promise<void> {
    if (!this.role.holdsLease) return;
    await this.#changes.run(async () => {
      if (stopping || statusOf(this.state) !== 'running') await this.role.release();
      if (stopping) this.role.leaseLost();
    });
  }

  /** Continues a turn from the log after another node or an earlier process. */
  async takeOver(lease: Lease): Promise<void> {
    const { seq } = this.state;
    const wasElsewhere = this.role.isRemote;
    await this.#acquired(lease);
    // A session that only waited in the queue here has not streamed anything.
    if (!this.driving || wasElsewhere || this.state.seq > seq) this.#resumeTurn();
  }

  /** Another node drives the session: stops the running action. */
  async loseLease(): Promise<void> {
    this.#lost();
    await this.refresh();
  }

  /** This node must not use its lease for now: stops the running action, which continues later. */
  fence(): void {
    const { turn } = this.state;
    if (!turn || !this.role.holdsLease) return;
    this.interrupted ??= restartOf(turn, this.open !== null);
    this.abandon();
  }

  /**
   * Stops the running action so that another node can end the turn. It continues later if that does not
   * happen.
   */
  hold(): void {
    this.fence();
    this.held = true;
  }

  async #acquired(lease: Lease): Promise<void> {
    await this.#changes.run(async () => {
      await this.#moved();
      this.role.acquired(lease);
    });
  }

  /**
   * Another node drives the session. Stops the running action at once: it must not add to a block that the
   * other node streams.
   */
  #lost(): void {
    this.role.leaseLost();
    this.#abort.now();
  }
}

/** The digest of these events and the next one. */
const withEvent = (digest: bigint, { id }: DurableEvent): bigint => BigInt(Bun.hash(id, digest));

const mayMoveLease = ({ type }: DurableEvent): boolean =>
  type === 'turn.started' || type === 'turn.resumed' || type === 'turn.cancelled';

/** Events to be stored, with the state after each and the session record to store with them. */
type Change = {
  readonly before: SessionState;
  readonly events: DurableEvent[];
  readonly states: readonly SessionState[];
  readonly record: SessionRecord;
};

type ChangeSources = {
  readonly now: () => number;
  readonly newId: () => string;
  /** kept if the session is not idle */
  readonly checkpoint: SessionRecord['checkpoint'];
};

function changeOf(
  { ref, state: before }: { readonly ref: SessionRef; readonly state: SessionState },
  bodies: readonly DurableEventBody[],
  { now, newId, checkpoint }: ChangeSources,
): Change {
  // The clocks of nodes differ.
  const clock = () => Math.max(now(), before.updatedAt);
  let at = clock();
  const session = ref.id;
  const events = bodies.map((body, index): DurableEvent => {
    // A call starts after its request, although one append stores both.
    if (body.type === 'tool.started' && index > 0) at = clock();
    return { ...body, session, id: newId(), at, seq: before.seq + index + 1 };
  });
  // Validate first: an event that cannot be parsed would make the whole session unreadable.
  for (const event of events) parseDurableEvent(event);
  const states: SessionState[] = [];
  for (const event of events) states.push(evolve(states.at(-1) ?? before, event));
  const next = states.at(-1) ?? before;
  const usage = events.flatMap(
    (event, index) => usageEntry(event, states[index - 1] ?? before, ref.owner) ?? [],
  );
  const record = recordOf(ref, next, checkpointOf(next) ?? checkpoint);
  return { before, events, states, record: usage.length === 0 ? record : { ...record, usage } };
}

/** Runs asynchronous work one at a time, in call order. */
class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();

  /** Rejects if `work` rejects; later work still runs. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = this.#tail.then(work);
    this.#tail = run.catch(() => undefined);
    return run;
  }

  /** Resolves when all previously queued work is done. */
  async settled(): Promise<void> {
    await this.#tail;
  }
}
