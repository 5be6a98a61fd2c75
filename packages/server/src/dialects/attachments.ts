/** Who is attached to which session right now, in which dialect; and what passes on their sockets, for those who look. */
import type { ConnectionId, Principal, PrincipalId } from '@parlance/protocol';
import { type Passing, type SessionRef, type Socket, sessionKey } from '../core/engine.ts';

/** One message as it was on the wire. */
export type PassedFrame = {
  readonly at: number;
  readonly dialect: string;
  readonly connection: ConnectionId;
  readonly direction: 'in' | 'out';
  readonly text: string;
};

type Look = {
  readonly key: string;
  readonly owner: PrincipalId;
  readonly by: Principal;
  see(f: PassedFrame): void;
};
/** A session, or all sessions of an owner. */
export type Place = SessionRef | PrincipalId;
type Watch = { readonly by: Principal; changed(place: Place): void };
type Seat = {
  readonly dialect: string;
  readonly socket: Socket | null;
  /** by their keys */
  readonly places: Map<string, Place>;
};

/** A token in a frame is not for looking at. */
const TOKEN = /("(?:sessionToken|token|access_token)"\s*:\s*")[^"]*"/g;

export class Attachments {
  readonly #seats = new Map<string, Seat>();
  readonly #looks = new Set<Look>();
  readonly #watches = new Set<Watch>();

  constructor(private readonly now: () => number = Date.now) {}

  /** The socket sees the session, or all sessions of an owner. */
  attach(place: Place, dialect: string, socket: Socket): void {
    const seat = this.#seats.get(socket.id) ?? { dialect, socket, places: new Map() };
    seat.places.set(keyOf(place), place);
    this.#seats.set(socket.id, seat);
    this.#tap(seat);
    this.#changed(place);
  }

  /** The socket no longer sees it. */
  detach(place: Place, socket: Pick<Socket, 'id'>): void {
    const seat = this.#seats.get(socket.id);
    if (!seat?.places.delete(keyOf(place))) return;
    this.#tap(seat);
    this.#changed(place);
  }

  /** A reader that has no socket of its own. Returns what ends it. */
  attachReader(ref: SessionRef, dialect: string, id: string): () => void {
    this.#seats.set(id, { dialect, socket: null, places: new Map([[keyOf(ref), ref]]) });
    this.#changed(ref);
    return () => this.#left(id);
  }

  leave(socket: Pick<Socket, 'id'>): void {
    this.#left(socket.id);
  }

  #left(id: string): void {
    const seat = this.#seats.get(id);
    this.#seats.delete(id);
    for (const place of seat?.places.values() ?? []) this.#changed(place);
  }

  #changed(place: Place): void {
    for (const { by, changed } of this.#watches)
      if (by.role === 'admin' || by.id === ownerOf(place)) changed(place);
  }

  /** `changed` is called when somebody has come to a session, or has left it, that the principal may see. */
  watch(by: Principal, changed: (place: Place) => void): () => void {
    const watch = { by, changed };
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  /** How many are attached, by dialect. */
  of(ref: SessionRef): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const seat of this.#seats.values())
      if (sees(seat, keyOf(ref), ref.owner)) counts[seat.dialect] = (counts[seat.dialect] ?? 0) + 1;
    return counts;
  }

  /**
   * `see` is called with what passes on the sockets that are attached to the session, from now on. A socket that
   * carries sessions of someone else, too, is shown to admins alone.
   */
  look(ref: SessionRef, by: Principal, see: (frame: PassedFrame) => void): () => void {
    const look = { key: keyOf(ref), owner: ref.owner, by, see };
    this.#looks.add(look);
    for (const seat of this.#seats.values()) this.#tap(seat);
    return () => {
      this.#looks.delete(look);
      for (const seat of this.#seats.values()) this.#tap(seat);
    };
  }

  #tap(seat: Seat): void {
    const { socket, dialect } = seat;
    if (!socket) return;
    const { id: connection } = socket;
    const mayLook = (by: Principal) =>
      by.role === 'admin' || [...seat.places.values()].every((place) => ownerOf(place) === by.id);
    const looks = [...this.#looks].filter(({ key, owner, by }) => sees(seat, key, owner) && mayLook(by));
    const pass: Passing = (direction, wire) => {
      const text = direction === 'in' ? wire.replace(TOKEN, '$1…"') : wire;
      const frame = { at: this.now(), dialect, connection, direction, text };
      for (const { see } of looks) see(frame);
    };
    socket.tap(looks.length > 0 ? pass : null);
  }
}

const ownerOf = (place: Place): PrincipalId => (typeof place === 'string' ? place : place.owner);

const keyOf = (place: Place): string =>
  typeof place === 'string' ? JSON.stringify([place]) : sessionKey(place);

const sees = ({ places }: Seat, key: string, owner: PrincipalId): boolean =>
  places.has(key) || places.has(keyOf(owner));
