/** The sockets of one dialect: which sessions they watch, and one shared projection for each of those. */
import type { ConnectionId, PrincipalId, SessionEvent } from '@parlance/protocol';
import {
  type Engine,
  type Log,
  type ObservedSession,
  type SessionRef,
  type SessionSnapshot,
  sessionKey,
  type Watch,
} from '../../core/api/index.ts';
import type { Pieces, Socket } from '../../http/connection.ts';
import { ConnectionRegistry } from './connection-registry.ts';
import type { Frame, Projection } from './projection.ts';

/** What is sent the frames of a session: a socket, or what keeps them for one. */
export type Member = Pick<Socket, 'id' | 'open' | 'send' | 'sendText'>;
/** Which of the frames of `attach` a member that joins is sent. */
export type Shown = (body: object) => boolean;

const EVERYTHING: Shown = () => true;
export const NOTHING: Shown = () => false;

type Members = Map<ConnectionId, Member>;
type Group<State> = { state: State; readonly watch: Watch; readonly members: Members };
type Subscription<State> = { readonly group: Group<State> | null; readonly give: () => void };
type OwnerGroup = { readonly members: Members; readonly stop: () => void };

export class SubscriptionHub<State> {
  readonly #groups = new Map<string, Promise<Group<State>>>();
  readonly #ownerGroups = new Map<PrincipalId, OwnerGroup>();
  /** what to undo when a socket is gone */
  readonly #subscriptions = new Map<ConnectionId, Map<string, Subscription<State>>>();

  readonly #pieces: Pieces | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly projection: Projection<State>,
    private readonly log: Log,
    private readonly dialect = '',
    private readonly connections = new ConnectionRegistry(),
  ) {
    this.#pieces = projection.pieces;
  }

  /** The socket sees what happens in the session from now on; first of all, what is under way. Twice is once. */
  async join(ref: SessionRef, socket: Socket, shown = EVERYTHING): Promise<void> {
    await this.#enter(ref, socket, shown, () => this.connections.attach(ref, this.dialect, socket));
  }

  /** The member is sent what happens in the session from now on. It does not count as attached. */
  async hold(ref: SessionRef, member: Member): Promise<void> {
    await this.#enter(ref, member, NOTHING, () => undefined);
  }

  /** Whether the socket has joined the session. */
  has(ref: SessionRef, socket: Member): boolean {
    return this.#subscriptions.get(socket.id)?.has(sessionKey(ref)) ?? false;
  }

  /** The socket sees no more of the session. */
  part(ref: SessionRef, socket: Member): void {
    const subscriptions = this.#subscriptions.get(socket.id);
    const subscription = subscriptions?.get(sessionKey(ref));
    subscriptions?.delete(sessionKey(ref));
    this.connections.detach(ref, socket);
    subscription?.give();
  }

  /** The sessions that the socket joined, as they are now. */
  joined(socket: Member): SessionSnapshot[] {
    const subscriptions = [...(this.#subscriptions.get(socket.id)?.values() ?? [])];
    return subscriptions.flatMap(({ group }) => (group ? [group.watch.snapshot()] : []));
  }

  /** `keeper` takes the place of a socket: it is sent everything that happens after the socket's last frame. */
  keep(ref: SessionRef, socket: Member, keeper: Member): void {
    this.#replace(ref, socket, keeper);
  }

  /** The socket takes the place of its keeper. Returns what a socket that joins now would be shown. */
  succeed(ref: SessionRef, keeper: Member, socket: Socket): readonly object[] {
    const group = this.#replace(ref, keeper, socket);
    if (!group) return [];
    this.connections.attach(ref, this.dialect, socket);
    return this.projection.attach(group.state, group.watch.snapshot());
  }

  async #enter(ref: SessionRef, member: Member, shown: Shown, entered: () => void): Promise<void> {
    const key = sessionKey(ref);
    for (;;) {
      const pending = this.#groups.get(key) ?? this.#group(key, ref);
      const group = await pending;
      if (this.#groups.get(key) !== pending) continue; // its last member left meanwhile
      if (!member.open) return this.#dissolve(key, group);
      if (group.members.has(member.id)) return;
      this.#add(key, group, member);
      entered();
      this.#show(group, member, shown);
      return;
    }
  }

  #add(key: string, group: Group<State>, member: Member): void {
    group.members.set(member.id, member);
    const give = () => {
      group.members.delete(member.id);
      this.#dissolve(key, group);
    };
    this.#subscribe(member, key, { group, give });
  }

  #show(group: Group<State>, member: Member, shown: Shown): void {
    if (shown === NOTHING) return;
    for (const body of this.projection.attach(group.state, group.watch.snapshot()))
      if (shown(body)) member.send(body);
  }

  /** Synchronous: no event reaches both, and none neither. */
  #replace(ref: SessionRef, before: Member, after: Member): Group<State> | null {
    const key = sessionKey(ref);
    const subscriptions = this.#subscriptions.get(before.id);
    const group = subscriptions?.get(key)?.group;
    if (!subscriptions || !group) return null;
    subscriptions.delete(key);
    if (subscriptions.size === 0) this.#subscriptions.delete(before.id);
    group.members.delete(before.id);
    this.#add(key, group, after);
    return group;
  }

  /** The socket sees every session of the owner, from now on. */
  subscribeOwner(owner: PrincipalId, socket: Socket): void {
    const ownerGroup = this.#ownerGroups.get(owner) ?? this.#groupOwner(owner);
    ownerGroup.members.set(socket.id, socket);
    this.connections.attach(owner, this.dialect, socket);
    const give = () => {
      ownerGroup.members.delete(socket.id);
      if (ownerGroup.members.size > 0) return;
      ownerGroup.stop();
      this.#ownerGroups.delete(owner);
    };
    this.#subscribe(socket, owner, { group: null, give });
  }

  /** For a socket that hears the owner's sessions already: what is under way in this one. */
  async show(ref: SessionRef, socket: Socket): Promise<void> {
    const watch = await this.engine.watch(
      ref,
      'now',
      () => undefined,
      (observed) => {
        for (const body of this.projection.attach(this.#upToDate(observed), observed.snapshot()))
          socket.send(body);
      },
    );
    watch.stop();
  }

  /** The socket is gone. */
  leave(socket: Member): void {
    const subscriptions = this.#subscriptions.get(socket.id);
    this.#subscriptions.delete(socket.id);
    this.connections.leave(socket);
    for (const { give } of subscriptions?.values() ?? []) give();
  }

  #subscribe(member: Member, key: string, subscription: Subscription<State>): void {
    const subscriptions = this.#subscriptions.get(member.id) ?? new Map<string, Subscription<State>>();
    subscriptions.set(key, subscription);
    this.#subscriptions.set(member.id, subscriptions);
  }

  #dissolve(key: string, group: Group<State>): void {
    if (group.members.size > 0) return;
    group.watch.stop();
    this.#groups.delete(key);
  }

  #group(key: string, ref: SessionRef): Promise<Group<State>> {
    const { promise, resolve, reject } = Promise.withResolvers<Group<State>>();
    this.#groups.set(key, promise);
    let group: Group<State> | undefined;
    const sink = (event: SessionEvent) => {
      if (group) group.state = this.#pass(group.state, event, group.members);
    };
    const begin = (watch: Watch) => {
      group = { state: this.#upToDate(watch), watch, members: new Map() };
      resolve(group);
    };
    this.engine.watch(ref, 'now', sink, begin).catch((thrown) => {
      this.#groups.delete(key);
      reject(thrown);
    });
    return promise;
  }

  #groupOwner(owner: PrincipalId): OwnerGroup {
    const members: Members = new Map();
    /** only of sessions that have something to do */
    const states = new Map<string, State>();
    const stop = this.engine.watchOwner(owner, (event, session) => {
      const state = states.get(event.session) ?? this.#upToDate(session, event);
      states.set(event.session, this.#pass(state, event, members));
      if (session.eventsSinceIdle().length === 0) states.delete(event.session);
    });
    const ownerGroup = { members, stop };
    this.#ownerGroups.set(owner, ownerGroup);
    return ownerGroup;
  }

  /** The state before `event`, or now. */
  #upToDate(session: ObservedSession, event?: SessionEvent): State {
    let state = this.projection.start(session.snapshot());
    for (const durable of session.eventsSinceIdle()) {
      if (durable !== event) [state] = this.projection.step(state, durable);
    }
    return state;
  }

  /** On the path of a token: one step and one encoding, however many are watching. */
  #pass(state: State, event: SessionEvent, members: Members): State {
    let next: State;
    let frames: readonly Frame[];
    try {
      [next, frames] = this.projection.step(state, event);
    } catch (thrown) {
      this.log.error(
        { err: thrown, event: event.type, session: event.session },
        'an event could not be projected',
      );
      return state;
    }
    for (const frame of frames) {
      const text = JSON.stringify(frame.body);
      // A socket that is too slow closes here, and its keeper has this frame from the socket: those that come are last.
      let left = members.size;
      for (const member of members.values()) {
        if (left-- === 0) break;
        if (member.id !== frame.except) member.sendText(text, frame.body, this.#pieces);
      }
    }
    return next;
  }
}
