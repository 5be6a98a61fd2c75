/** The sockets of one dialect: which sessions they watch, and one shared projection for each of those. */
import type { ConnectionId, PrincipalId, SessionEvent } from '@parlance/protocol';
import {
  type Engine,
  type Glance,
  type Log,
  type Now,
  type Pieces,
  type SessionRef,
  type Socket,
  sessionKey,
  type Watch,
} from '../core/engine.ts';
import { Attachments } from './attachments.ts';
import type { Frame, Projection } from './dialect.ts';

/** What is sent the frames of a session: a socket, or what keeps them for one. */
export type Member = Pick<Socket, 'id' | 'open' | 'send' | 'sendText'>;
/** Which of the frames of `attach` a member that joins is sent. */
export type Shown = (body: object) => boolean;

const EVERYTHING: Shown = () => true;
export const NOTHING: Shown = () => false;

type Members = Map<ConnectionId, Member>;
type Group<State> = { state: State; readonly watch: Watch; readonly members: Members };
type Seat<State> = { readonly group: Group<State> | null; readonly give: () => void };
type Hearing = { readonly members: Members; readonly stop: () => void };

export class Audience<State> {
  readonly #groups = new Map<string, Promise<Group<State>>>();
  readonly #hearings = new Map<PrincipalId, Hearing>();
  /** what to undo when a socket is gone */
  readonly #seats = new Map<ConnectionId, Map<string, Seat<State>>>();

  readonly #pieces: Pieces | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly projection: Projection<State>,
    private readonly log: Log,
    private readonly dialect = '',
    private readonly attachments = new Attachments(),
  ) {
    this.#pieces = projection.pieces;
  }

  /** The socket sees what happens in the session from now on; first of all, what is under way. Twice is once. */
  async join(ref: SessionRef, socket: Socket, shown = EVERYTHING): Promise<void> {
    await this.#enter(ref, socket, shown, () => this.attachments.attach(ref, this.dialect, socket));
  }

  /** The member is sent what happens in the session from now on. It does not count as attached. */
  async hold(ref: SessionRef, member: Member): Promise<void> {
    await this.#enter(ref, member, NOTHING, () => undefined);
  }

  /** Whether the socket has joined the session. */
  has(ref: SessionRef, socket: Member): boolean {
    return this.#seats.get(socket.id)?.has(sessionKey(ref)) ?? false;
  }

  /** The socket sees no more of the session. */
  part(ref: SessionRef, socket: Member): void {
    const seats = this.#seats.get(socket.id);
    const seat = seats?.get(sessionKey(ref));
    seats?.delete(sessionKey(ref));
    this.attachments.detach(ref, socket);
    seat?.give();
  }

  /** The sessions that the socket joined, as they are now. */
  joined(socket: Member): Now[] {
    const seats = [...(this.#seats.get(socket.id)?.values() ?? [])];
    return seats.flatMap(({ group }) => (group ? [group.watch.now()] : []));
  }

  /** `keeper` takes the place of a socket: it is sent everything that happens after the socket's last frame. */
  keep(ref: SessionRef, socket: Member, keeper: Member): void {
    this.#replace(ref, socket, keeper);
  }

  /** The socket takes the place of its keeper. Returns what a socket that joins now would be shown. */
  succeed(ref: SessionRef, keeper: Member, socket: Socket): readonly object[] {
    const group = this.#replace(ref, keeper, socket);
    if (!group) return [];
    this.attachments.attach(ref, this.dialect, socket);
    return this.projection.attach(group.state, group.watch.now());
  }

  async #enter(ref: SessionRef, member: Member, shown: Shown, entered: () => void): Promise<void> {
    const key = sessionKey(ref);
    for (;;) {
      const gathering = this.#groups.get(key) ?? this.#gather(key, ref);
      const group = await gathering;
      if (this.#groups.get(key) !== gathering) continue; // its last member left meanwhile
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
    this.#seat(member, key, { group, give });
  }

  #show(group: Group<State>, member: Member, shown: Shown): void {
    if (shown === NOTHING) return;
    for (const body of this.projection.attach(group.state, group.watch.now()))
      if (shown(body)) member.send(body);
  }

  /** Synchronous: no event reaches both, and none neither. */
  #replace(ref: SessionRef, before: Member, after: Member): Group<State> | null {
    const key = sessionKey(ref);
    const seats = this.#seats.get(before.id);
    const group = seats?.get(key)?.group;
    if (!seats || !group) return null;
    seats.delete(key);
    if (seats.size === 0) this.#seats.delete(before.id);
    group.members.delete(before.id);
    this.#add(key, group, after);
    return group;
  }

  /** The socket sees every session of the owner, from now on. */
  hear(owner: PrincipalId, socket: Socket): void {
    const hearing = this.#hearings.get(owner) ?? this.#listen(owner);
    hearing.members.set(socket.id, socket);
    this.attachments.attach(owner, this.dialect, socket);
    const give = () => {
      hearing.members.delete(socket.id);
      if (hearing.members.size > 0) return;
      hearing.stop();
      this.#hearings.delete(owner);
    };
    this.#seat(socket, owner, { group: null, give });
  }

  /** For a socket that hears the owner's sessions already: what is under way in this one. */
  async show(ref: SessionRef, socket: Socket): Promise<void> {
    const watch = await this.engine.watch(
      ref,
      'now',
      () => undefined,
      (glance) => {
        for (const body of this.projection.attach(this.#upToDate(glance), glance.now())) socket.send(body);
      },
    );
    watch.stop();
  }

  /** The socket is gone. */
  leave(socket: Member): void {
    const seats = this.#seats.get(socket.id);
    this.#seats.delete(socket.id);
    this.attachments.leave(socket);
    for (const { give } of seats?.values() ?? []) give();
  }

  #seat(member: Member, key: string, seat: Seat<State>): void {
    const seats = this.#seats.get(member.id) ?? new Map<string, Seat<State>>();
    seats.set(key, seat);
    this.#seats.set(member.id, seats);
  }

  #dissolve(key: string, group: Group<State>): void {
    if (group.members.size > 0) return;
    group.watch.stop();
    this.#groups.delete(key);
  }

  #gather(key: string, ref: SessionRef): Promise<Group<State>> {
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

  #listen(owner: PrincipalId): Hearing {
    const members: Members = new Map();
    /** only of sessions that have something to do */
    const states = new Map<string, State>();
    const stop = this.engine.watchOwner(owner, (event, session) => {
      const state = states.get(event.session) ?? this.#upToDate(session, event);
      states.set(event.session, this.#pass(state, event, members));
      if (session.recent().length === 0) states.delete(event.session);
    });
    const hearing = { members, stop };
    this.#hearings.set(owner, hearing);
    return hearing;
  }

  /** The state before `event`, or now. */
  #upToDate(session: Glance, event?: SessionEvent): State {
    let state = this.projection.start(session.now());
    for (const fact of session.recent()) {
      if (fact !== event) [state] = this.projection.step(state, fact);
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
