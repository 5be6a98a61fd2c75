/** Connects a session to other nodes: sends local events, and follows the node that drives it. */
import type { EphemeralEvent, PrincipalId } from '@parlance/protocol';
import { type Delta, endsArguments } from '../core/engine/open-output.ts';

import type { Committed, LinkedSession, SessionLink } from '../core/engine/session-link.ts';
import type { Driver, Leases, NodeId } from '../core/ports/lease.ts';
import { type SessionRef, sessionKey } from '../core/ports/session-ref.ts';
import type { Meter } from '../core/ports/telemetry.ts';
import { statusOf } from '../core/session/session-state.ts';
import type { Clock } from '../lib/clock.ts';
import {
  eventsMessage,
  headMessage,
  JOIN,
  type Live,
  liveMessage,
  type Position,
  readPosition,
  refMessage,
  STOP,
} from './remote-messages.ts';
import type { FollowedEntries, Transport, WakeUps } from './transport.ts';

/** Timeout for a request to the driving node, in milliseconds. */
const ANSWER_MS = 300;
/**
 * Delay before joining again, for messages sent before the other nodes knew this node's interest, in
 * milliseconds.
 */
const INTEREST_MS = 250;
/** How late the database may store an append that has failed. */
const LATE_MS = 5_000;
/**
 * The queue only fills up if the store hangs. Further messages are dropped, and read from the store later.
 */
const MAX_WAITING = 10_000;

export type LinkParts = {
  readonly transport: Transport;
  readonly wakeUps?: WakeUps;
  readonly leases: Leases;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly newId: () => string;
  /** whether a subscriber on this node receives all sessions of the owner */
  readonly hasSubscribers: (owner: PrincipalId) => boolean;
  /** called if new events of the session could not be read; they are read later */
  readonly notRead: (reason: unknown) => void;
  /** the keys under which nodes announce their interest in the session */
  readonly interests: readonly string[];
};

const isDelta = (event: EphemeralEvent): event is Delta =>
  event.type === 'text.delta' || event.type === 'reasoning.delta';

/** The registry key under which nodes announce that they watch the session. */
export const watchKey = (ref: SessionRef): string => `w:${sessionKey(ref)}`;

export class RemoteLink implements SessionLink {
  readonly #watchers: FollowedEntries;
  #interest: { count: number; readonly end: () => void } | null = null;
  /** highest known epoch; events of an earlier driver are ignored */
  #epoch = 0;
  #driver: NodeId | null = null;
  /** the node that was asked to stop, until the interruption is stored */
  #stopped: NodeId | null = null;
  readonly #waiting: (() => void | Promise<void>)[] = [];
  #busy = false;
  #closed = false;
  /** whether this node has stored events of the session */
  #hasStored = false;
  #announcedTo: readonly NodeId[];

  constructor(
    private readonly session: LinkedSession,
    private readonly parts: LinkParts,
  ) {
    this.#watchers = parts.transport.registry.follow(parts.interests);
    this.#announcedTo = this.#watchers.nodes;
    this.#watchers.onChange(() => this.#announce());
  }

  get followed(): boolean {
    if (this.#interest) return true;
    return statusOf(this.session.state) === 'running' && this.parts.hasSubscribers(this.session.ref.owner);
  }

  publish(event: EphemeralEvent): void {
    const { nodes } = this.#watchers;
    if (nodes.length === 0) return;
    const { ref, state, role, open } = this.session;
    const { epoch } = role;
    const isBlock = isDelta(event);
    // Only the driver streams; a node that was just replaced sends nothing more.
    if (isBlock && (epoch === 0 || open?.block !== event.block)) return;
    const offset = isBlock && open ? open.text.length - event.text.length : 0;
    this.parts.transport.send(nodes, liveMessage({ ref, epoch, seq: state.seq, offset, event }));
  }

  committed(committed: Committed): void {
    const { driver } = committed;
    const { transport, wakeUps } = this.parts;
    const targets = new Set(this.#watchers.nodes);
    if (driver && driver.node !== transport.node) targets.add(driver.node);
    if (this.#stopped) targets.add(this.#stopped);
    this.#stopped = null;
    this.#hasStored = true;
    this.#heardOf(driver);
    if (wakeUps?.needed) wakeUps.notify(this.session.ref);
    if (targets.size > 0)
      transport.send([...targets], eventsMessage({ ref: this.session.ref, ...committed }));
  }

  watch(): () => void {
    if (!this.#interest) {
      const end = this.parts.transport.registry.add(watchKey(this.session.ref));
      this.#interest = { count: 0, end };
      const again = this.parts.clock.setTimeout(() => {
        if (this.#interest) this.join().catch(this.parts.notRead);
      }, INTEREST_MS);
      again.unref();
    }
    const interest = this.#interest;
    interest.count++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      if (--interest.count > 0) return;
      this.#interest = null;
      interest.end();
    };
  }

  async join(): Promise<void> {
    const { session } = this;
    await session.fresh();
    if (session.role.isDriver || statusOf(session.state) !== 'running') return;
    // Messages that arrive during the request are queued behind its response.
    await this.#queued(() => this.#rejoin());
  }

  async stop(): Promise<void> {
    const { session } = this;
    await session.fresh();
    if (session.role.isDriver || statusOf(session.state) !== 'running') return;
    await this.#queued(async () => {
      const position = await this.#ask(STOP);
      this.#stopped = position && this.#driver;
      if (position) await this.#moveTo(position);
    });
  }

  async isWatchedElsewhere(): Promise<boolean> {
    await this.#watchers.ready;
    const own = watchKey(this.session.ref);
    return this.#watchers.entries.some(({ key }) => key === own);
  }

  /** Handles events that another node has stored. */
  receive(committed: Committed): void {
    this.#queue(() => {
      this.#heardOf(committed.driver);
      return this.session.received(committed);
    });
  }

  receiveLive(live: Live, from: NodeId): void {
    this.#queue(() => this.#follow(live, from));
  }

  close(): void {
    this.#closed = true;
    this.#watchers.close();
    this.#interest?.end();
  }

  /** A new watcher may have read the session before our last append: send it our position. */
  #announce(): void {
    const { nodes } = this.#watchers;
    const added = nodes.filter((node) => !this.#announcedTo.includes(node));
    this.#announcedTo = nodes;
    this.#tell(added);
  }

  unsure(): void {
    this.#hasStored = true;
    const { clock, notRead } = this.parts;
    const later = clock.setTimeout(() => void (this.#closed || this.session.fresh().catch(notRead)), LATE_MS);
    later.unref();
  }

  tell(): void {
    const driver = this.#driver === this.parts.transport.node ? null : this.#driver;
    this.#tell([...new Set([...this.#watchers.nodes, ...(driver ? [driver] : [])])]);
  }

  #tell(nodes: readonly NodeId[]): void {
    const { ref, state } = this.session;
    if (this.#hasStored) this.parts.transport.send(nodes, headMessage(ref, state.seq));
  }

  /** Runs work in order, synchronously if the queue is empty. */
  #queue(work: () => void | Promise<void>): void {
    if (this.#closed) return;
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push(work);
    if (!this.#busy) this.#run();
  }

  #queued(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed || this.#waiting.length >= MAX_WAITING) resolve();
      else this.#queue(() => work().then(resolve, reject));
    });
  }

  #run(): void {
    for (let work = this.#waiting.shift(); work; work = this.#waiting.shift()) {
      const running = work();
      if (!running) continue;
      this.#busy = true;
      const next = () => {
        this.#busy = false;
        this.#run();
      };
      running.catch(this.parts.notRead).then(next);
      return;
    }
  }

  #heardOf(driver: Driver | null): void {
    if (!driver || driver.epoch < this.#epoch) return;
    this.#epoch = driver.epoch;
    this.#driver = driver.node;
  }

  #follow(live: Live, from: NodeId): void | Promise<void> {
    const { session } = this;
    const { event, epoch, seq } = live;
    if (event.type === 'session.erased') return session.erasedElsewhere(event);
    if (!isDelta(event) && event.type !== 'call.arguments.delta') return session.pass(event);
    if (epoch < this.#epoch || session.role.isDriver) return;
    this.#heardOf({ node: from, epoch });
    const show = () => (isDelta(event) ? this.#show(event, live) : this.#showArguments(event, seq));
    // Earlier events have not arrived yet.
    return seq > session.state.seq ? session.fresh().then(show) : show();
  }

  #show(delta: Delta, { offset, seq }: Pick<Live, 'offset' | 'seq'>): void | Promise<void> {
    const { session } = this;
    if (session.state.turn?.id !== delta.turn) return;
    const { open } = session;
    const isOpen = open?.block === delta.block;
    if (!isOpen && this.#isOver(delta, seq)) return;
    const shown = isOpen ? open.text.length : 0;
    if (offset > shown) return this.#rejoin();
    if (offset + delta.text.length > shown) session.show(delta, delta.text.slice(shown - offset));
  }

  #showArguments(delta: EphemeralEvent<'call.arguments.delta'>, seq: number): void | Promise<void> {
    const { state, openArguments, eventsSinceIdle } = this.session;
    if (state.turn?.id !== delta.turn) return;
    if (eventsSinceIdle.some((event) => event.seq > seq && endsArguments(event))) return;
    const shown = openArguments.length(delta.call);
    if (delta.offset > shown) return this.#rejoin();
    const text = delta.text.slice(shown - delta.offset);
    if (text !== '') this.session.pass({ ...delta, offset: shown, text });
  }

  /** Whether the block has ended, or belongs to a step that was restarted. */
  #isOver({ block }: Delta, seq: number): boolean {
    return this.session.eventsSinceIdle.some(
      (event) =>
        ('block' in event && event.block === block) ||
        (event.seq > seq && (event.type === 'step.restarted' || event.type === 'turn.resumed')),
    );
  }

  async #rejoin(): Promise<void> {
    this.parts.meter.add('bus_joins');
    const position = await this.#ask(JOIN);
    if (position) await this.#moveTo(position);
  }

  async #moveTo({ epoch, seq, open, calls }: Position): Promise<void> {
    const { session } = this;
    if (epoch < this.#epoch) return;
    this.#epoch = epoch;
    if (seq > session.state.seq) await session.fresh();
    for (const call of calls) {
      const head = { id: this.parts.newId(), at: session.state.updatedAt, session: session.ref.id };
      await this.#showArguments({ ...head, type: 'call.arguments.delta', offset: 0, ...call }, seq);
    }
    if (!open) return;
    const { turn, block, text, at } = open;
    const type = open.kind === 'text' ? 'text.delta' : 'reasoning.delta';
    const id = this.parts.newId();
    await this.#show({ type, turn, block, text, id, at, session: session.ref.id }, { offset: 0, seq });
  }

  /** Asks the driving node for its position. Null if it does not respond in time. */
  async #ask(kind: string): Promise<Position | null> {
    const { transport, leases } = this.parts;
    if (!transport.up) return null;
    const message = refMessage(kind, this.session.ref);
    const asked = this.#driver;
    for (const known of [asked, null]) {
      try {
        const node = known ?? (await leases.driverOf(this.session.ref))?.node;
        if (!node || node === transport.node || (known === null && node === asked)) continue;
        const position = readPosition(await transport.request(node, message, ANSWER_MS));
        this.#driver = node;
        return position;
      } catch {
        // The driver may have changed, or there is none. Stored events are shown in any case.
      }
    }
    return null;
  }
}
