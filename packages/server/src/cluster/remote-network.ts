/**
 * Dispatches messages of other nodes to sessions in memory, and loads sessions that subscribers on this node
 * need.
 */
import type { PrincipalId } from '@parlance/protocol';
import type { ClusterMember, ClusterNetwork } from '../core/engine/engine-internals.ts';
import type { Session } from '../core/engine/session.ts';
import type { SessionCache } from '../core/engine/session-cache.ts';
import type { LinkedSession } from '../core/engine/session-link.ts';
import type { NodeId } from '../core/ports/lease.ts';
import { type SessionRef, sessionKey } from '../core/ports/session-ref.ts';
import { waitingCalls } from '../core/session/session-state.ts';
import { RemoteCalls, RemoteClients } from './remote-clients.ts';
import { RemoteLink, watchKey } from './remote-link.ts';
import {
  EVENTS,
  HEAD,
  JOIN,
  LIVE,
  positionOf,
  RELEASED,
  readEvents,
  readHead,
  readLive,
  readRef,
  STOP,
} from './remote-messages.ts';
import type { Transport, WakeUps } from './transport.ts';

/**
 * Interval for comparing watched sessions with the store while the bus is down, and for retrying failed
 * reads, in milliseconds.
 */
const POLL_MS = 500;

type NetworkParts = ClusterMember & {
  readonly transport: Transport;
  /** used while transport messages may not arrive */
  readonly wakeUps?: WakeUps;
};

/** Connects a node with the others: its sessions, and the clients that run tools. */
export function joinCluster(parts: NetworkParts): ClusterNetwork {
  const { transport, clients, newId, log, clock } = parts;
  clients.attach(new RemoteClients(transport, newId, clock));
  new RemoteCalls(transport, clients, log, clock);
  return new RemoteNetwork(parts);
}

const EVERYONE = 'o:*';
const ofOwner = (owner: PrincipalId): string => `o:${owner}`;

class RemoteNetwork implements ClusterNetwork {
  readonly #links = new WeakMap<LinkedSession, RemoteLink>();
  /** number of local subscribers to all sessions of an owner, or of all owners */
  readonly #followedOwners = new Map<string, number>();
  /** sessions with new events that could not be read, and the last event that local subscribers have seen */
  readonly #unread = new Map<string, UnreadSession>();
  #sessions: SessionCache | null = null;
  #others: readonly NodeId[] = [];
  #comparing = false;
  #reading = false;

  constructor(private readonly parts: NetworkParts) {}

  open(sessions: SessionCache): void {
    const { transport, clock } = this.parts;
    this.#sessions = sessions;
    const poll = clock.setInterval(() => {
      if (!transport.up) this.#compare();
      this.#readAgain();
    }, POLL_MS);
    poll.unref();
    this.parts.wakeUps?.listen((concerns) => this.#wakeUp(concerns));
    transport.on(EVENTS, (body) => {
      const committed = readEvents(body);
      const before = (committed.events[0]?.seq ?? 1) - 1;
      this.#deliver(committed.ref, (session) => this.#links.get(session)?.receive(committed), before);
    });
    transport.on(LIVE, (body, from) => {
      const live = readLive(body);
      this.#deliver(live.ref, (session) => this.#links.get(session)?.receiveLive(live, from));
    });
    transport.on(HEAD, (body) => {
      const { ref, seq } = readHead(body);
      const session = sessions.loaded(ref);
      if (session && seq > session.state.seq) this.#catchUp(session);
    });
    transport.others.onChange(() => this.#nodesChanged());
    transport.respond(JOIN, (body) => positionIn(this.#driven(readRef(body))));
    transport.respond(STOP, (body) => {
      const session = this.#driven(readRef(body));
      session.hold();
      return positionIn(session);
    });
    transport.onUp(() => {
      // Nobody has received what was stored without the bus.
      this.#joinAll();
      for (const session of sessions.all()) this.#links.get(session)?.tell();
    });
    transport.onLost(() => this.#joinAll());
  }

  released(): void {
    this.parts.transport.broadcast({ kind: RELEASED, body: null });
  }

  onReleased(listener: () => void): void {
    this.parts.transport.on(RELEASED, listener);
  }

  link(session: LinkedSession): RemoteLink {
    const interests = [watchKey(session.ref), ofOwner(session.ref.owner), EVERYONE];
    const link = new RemoteLink(session, {
      ...this.parts,
      interests,
      hasSubscribers: this.#hasSubscribers,
      notRead: (err) => this.#notRead(session, err),
    });
    this.#links.set(session, link);
    return link;
  }

  followOwner(owner: PrincipalId | null): () => void {
    const key = owner === null ? EVERYONE : ofOwner(owner);
    const end = this.parts.transport.registry.add(key);
    this.#followedOwners.set(key, (this.#followedOwners.get(key) ?? 0) + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      end();
      const left = (this.#followedOwners.get(key) ?? 1) - 1;
      if (left === 0) this.#followedOwners.delete(key);
      else this.#followedOwners.set(key, left);
    };
  }

  readonly #hasSubscribers = (owner: PrincipalId): boolean =>
    this.#followedOwners.has(EVERYONE) || this.#followedOwners.has(ofOwner(owner));

  /**
   * Loads a session that is not in memory if a subscriber follows its owner, up to event number `upTo`; later
   * events are delivered.
   */
  #deliver(ref: SessionRef, deliver: (session: Session) => void, upTo?: number): void {
    const sessions = this.#sessions;
    const known = sessions?.known(ref) ?? null;
    if (!sessions) return;
    if (known && !(known instanceof Promise)) {
      deliver(known);
      return;
    }
    if (!known && !this.#hasSubscribers(ref.owner)) return;
    const seen = this.#unread.get(sessionKey(ref))?.seen ?? upTo;
    sessions
      .use(ref, async (session) => deliver(session), seen)
      .catch((err) => this.#notRead({ ref, state: { seq: seen } }, err));
  }

  #driven(ref: SessionRef): Session {
    const session = this.#sessions?.loaded(ref);
    if (!session?.role.isDriver) throw new Error('this node does not drive the session');
    return session;
  }

  #followed(): Session[] {
    const all = [...(this.#sessions?.all() ?? [])];
    return all.filter((session) => !session.role.isDriver && session.link?.followed);
  }

  /** Messages may have been lost: events of a driver, or answers to calls that wait here. */
  #joinAll(): void {
    for (const session of this.#sessions?.all() ?? [])
      if (session.role.isDriver ? waitingCalls(session.state).length > 0 : session.link?.followed)
        this.#catchUp(session);
  }

  /** A node that has gone may have stored events without sending them. */
  #nodesChanged(): void {
    const { nodes } = this.parts.transport.others;
    const isGone = this.#others.some((node) => !nodes.includes(node));
    this.#others = nodes;
    if (isGone) this.#joinAll();
  }

  #catchUp(session: Session): void {
    upToDate(session).catch((err) => this.#notRead(session, err));
  }

  /** Retries failed reads; those that fail again are retried later. */
  #readAgain(): void {
    if (this.#unread.size === 0 || this.#reading) return;
    this.#reading = true;
    const unread = [...this.#unread.values()];
    this.#unread.clear();
    const reads = unread.map(async ({ ref, seen }) => {
      const session = this.#sessions?.loaded(ref);
      if (!this.#hasSubscribers(ref.owner) && !session?.role.isDriver && !session?.link?.followed) return;
      await this.#sessions
        ?.use(ref, upToDate, seen)
        .catch((err) => this.#notRead({ ref, state: { seq: seen } }, err));
    });
    Promise.all(reads).finally(() => {
      this.#reading = false;
    });
  }

  /** One query for all sessions. */
  #compare(): void {
    const followed = this.#followed();
    if (followed.length === 0 || this.#comparing) return;
    this.#comparing = true;
    this.parts.store
      .heads(followed.map(({ ref }) => ref))
      .then((heads) => {
        for (const [index, session] of followed.entries())
          if (heads[index] !== session.state.seq) session.fresh().catch((err) => this.#notRead(session, err));
      })
      .catch((err) => this.parts.log.debug({ err }, 'failed to compare sessions with the store'))
      .finally(() => {
        this.#comparing = false;
      });
  }

  /** Includes sessions driven here: an answer stored by another node lets a call continue. */
  #wakeUp(concerns: (ref: SessionRef) => boolean): void {
    for (const session of this.#sessions?.all() ?? []) {
      const isConcerned = session.role.isDriver || session.link?.followed;
      if (isConcerned && concerns(session.ref)) session.compare().catch((err) => this.#notRead(session, err));
    }
  }

  #notRead(
    { ref, state }: Pick<UnreadSession, 'ref'> & { state: { seq?: number | undefined } },
    err: unknown,
  ): void {
    this.parts.log.warn({ err, session: ref.id }, 'failed to read session');
    const key = sessionKey(ref);
    if (!this.#unread.has(key)) this.#unread.set(key, { ref, seen: state.seq });
  }
}

type UnreadSession = { readonly ref: SessionRef; readonly seen: number | undefined };

const upToDate = async (session: Session): Promise<void> =>
  session.role.isDriver ? session.compare() : session.link?.join();

const positionIn = ({ role, state, open, openArguments }: Session) =>
  positionOf({ epoch: role.epoch, seq: state.seq }, open, openArguments);
