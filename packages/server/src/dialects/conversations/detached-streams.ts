/**
 * Sockets that closed while a client still expected frames, or may come back, and their conversations. Everything is kept for a minute. A conversation continues on the successor of its socket, from
 * the frame after the last one sent. The contract has no id for a client, so a successor is known only if one
 * socket of the user was lost, or if a socket names a conversation that a lost one had.
 */
import {
  BlockId,
  type ConnectionId,
  type DurableEvent,
  type Principal,
  PrincipalId,
  SessionId,
  TurnId,
} from '@parlance/protocol';
import { z } from 'zod';
import {
  type Engine,
  maySee,
  type ObservedSession,
  type SessionRecord,
  type SessionRef,
  type SessionSnapshot,
  sessionKey,
  TextBuffer,
} from '../../core/index.ts';
import type { Pieces, Socket, Subscriber } from '../../http/connection.ts';
import { type Cursor, type FrameFilter, NOTHING, type SubscriptionHub } from '../kit/subscription-hub.ts';
import type { Body } from './contract.ts';
import { BETWEEN_BLOCKS, conversationOf, pieces, type State, startOf, step } from './outbound.ts';

// How far a closed socket has read a conversation, and its continuation on another node.

/** The last event whose frames were sent, and the text of the open block that was sent. */
const Position = z.object({
  seq: z.number(),
  /** first event that the projection needs */
  since: z.number(),
  open: z.object({ turn: TurnId, block: BlockId, text: z.string() }).nullable(),
});
type Position = z.output<typeof Position>;

/** `unsent` frames come first; later ones are made from the log. */
const ClosedSocket = z.object({
  owner: PrincipalId,
  id: SessionId,
  unsent: z.array(z.looseObject({ type: z.string() })),
  position: Position,
});
type ClosedSocket = z.output<typeof ClosedSocket>;

function positionOf(session: ObservedSession): Position {
  const { seq, open } = session.snapshot();
  const since = session.eventsSinceIdle()[0]?.seq ?? seq + 1;
  const isText = open?.kind === 'text';
  return { seq, since, open: isText ? { turn: open.turn, block: open.block, text: open.text } : null };
}

const PAGE = 500;

type Target = { readonly buffer: ReplayBuffer; readonly record: SessionRecord };

/** Fills a buffer with the frames after a position, while the hub subscribes the buffer. */
class Continuation implements Cursor {
  private readonly buffer: ReplayBuffer;
  #state: State;
  #seq: number;
  /** the part of the open block that the client has; null once the block has ended */
  #open: Position['open'];

  private constructor(
    private readonly engine: Pick<Engine, 'events'>,
    private readonly closed: ClosedSocket,
    { buffer, record }: Target,
  ) {
    const { position } = closed;
    this.buffer = buffer;
    this.#state = startOf(record);
    this.#seq = position.since - 1;
    this.#open = position.open;
  }

  static async open(
    engine: Pick<Engine, 'events'>,
    closed: ClosedSocket,
    target: Target,
  ): Promise<Continuation> {
    const made = new Continuation(engine, closed, target);
    for (const body of closed.unsent) made.#send([body as Body]);
    await made.#read(closed.position.seq, () => undefined);
    const { open } = closed.position;
    if (open) made.#step({ ...open, type: 'text.delta', id: '', session: closed.id, at: 0 });
    return made;
  }

  get seq(): number {
    return this.#seq;
  }

  catchUp(head: number): Promise<void> {
    return this.#read(head, (bodies) => this.#send(bodies));
  }

  /** Filters the frames for a new subscriber: sends the part of the answer that the client does not have. */
  readonly shown: FrameFilter = (given) => {
    const body = given as Body;
    if (body.type !== 'message_chunk') return false;
    const texts = this.#open ? [...this.#state.texts, this.#open.text] : this.#state.texts;
    const known = this.#state.message === pieces.key(body) ? texts.join(BETWEEN_BLOCKS) : '';
    const rest = pieces.text(body).slice(known.length);
    if (rest !== '') this.#send([pieces.with(body, rest)]);
    return false;
  };

  async #read(head: number, frames: (bodies: Body[]) => void): Promise<void> {
    const { owner, id } = this.closed;
    while (this.#seq < head) {
      const page = await this.engine.events({ owner, id }, this.#seq, Math.min(PAGE, head - this.#seq));
      if (page.length === 0) return;
      for (const event of page) {
        frames([...this.#missingOf(event), ...this.#step(event)]);
        this.#seq = event.seq;
      }
    }
  }

  /**
   * The end of a block does not repeat its text: returns the part of an open block that the client does not
   * have.
   */
  #missingOf(event: DurableEvent): Body[] {
    const open = this.#open;
    if (!open || event.seq <= this.closed.position.seq) return [];
    if (event.type === 'step.restarted' || event.type === 'turn.resumed') this.#open = null;
    if (event.type !== 'text.ended' || event.block !== open.block) return [];
    this.#open = null;
    const text = event.text.slice(open.text.length);
    if (text === '') return [];
    return this.#step({ ...open, type: 'text.delta', text, id: '', session: this.closed.id, at: 0 });
  }

  #step(event: Parameters<typeof step>[1]): Body[] {
    const [state, frames] = step(this.#state, event);
    this.#state = state;
    return frames.map(({ body }) => body);
  }

  #send(bodies: readonly Body[]): void {
    for (const body of bodies) this.buffer.send(JSON.stringify(body), body);
  }
}

export const KEPT_MS = 60_000;
/** Close codes of a page that was left, and of a token that was revoked: nobody comes back. */
const HAS_LEFT = new Set([1001, 1008]);
/** for the conversations of a user, and for the lost sockets */
const MAX_PER_USER = 32;

/** A socket and its authenticated user. */
export type Peer = {
  readonly socket: Socket;
  readonly principal: Principal;
  /** milliseconds since 1970 */
  readonly openedAt: number;
  /** key of the conversation that it last started, wrote to or named */
  last: string | null;
  /** keys of the conversations that its predecessor had */
  resumed: readonly string[];
  /** `unclear`: it may be the successor of a lost socket, but it is not known of which */
  standing: 'new' | 'unclear' | 'successor';
  /** it was told that a conversation of its client may have continued without it */
  told: boolean;
};

export const newPeer = (socket: Socket, principal: Principal, openedAt: number): Peer => ({
  socket,
  principal,
  openedAt,
  last: null,
  resumed: [],
  standing: 'unclear',
  told: false,
});

/** How a socket closed: `writing` is the session that it was sending a message to. */
export type Loss = {
  readonly unsent: readonly Body[];
  readonly writing: SessionRef | null;
  readonly code: number;
};

/** What is known of a lost socket, also on other nodes. Conversations are session keys. */
export const LostSocket = z.object({
  id: z.string(),
  /** milliseconds since 1970 */
  at: z.number(),
  /** it was opened with `?session=`, so its successor will be as well */
  byName: z.boolean(),
  /** the conversation that it last started, wrote to or named */
  last: z.string().nullable(),
  conversations: z.array(z.string()),
  /** sockets have opened that may or may not be its successor: only one that names a conversation is */
  contested: z.boolean(),
  /** conversations with frames that the client still expects */
  unfinished: z.array(z.string()),
});
export type LostSocket = z.output<typeof LostSocket>;

/** A lost socket as it moves to another node. */
export const MovedSocket = LostSocket.extend({ closed: z.array(ClosedSocket) });
export type MovedSocket = z.output<typeof MovedSocket>;

/**
 * The lost sockets that may be the predecessor of a socket: those that had the conversation that it names,
 * preferably as their last one. A client that names none also named none before, if there is a choice.
 */
export function predecessors<Lost extends Omit<LostSocket, 'unfinished'>>(
  lost: readonly Lost[],
  named: SessionRef | null,
): Lost[] {
  if (named === null) {
    const unnamed = lost.filter(({ byName }) => !byName);
    return unnamed.length > 0 ? unnamed : [...lost];
  }
  const key = sessionKey(named);
  const last = lost.filter((one) => one.last === key);
  return last.length > 0 ? last : lost.filter(({ conversations }) => conversations.includes(key));
}

type DetachedStream = {
  readonly ref: SessionRef;
  readonly buffer: ReplayBuffer;
  /** frames that the closed socket was due but not sent */
  readonly unsent: readonly Body[];
  /** how far it has read; null until the buffer is subscribed */
  position: Position | null;
  /** Settles when the buffer is subscribed. */
  placed: Promise<void>;
};

type Lost = Omit<LostSocket, 'unfinished' | 'contested'> & {
  readonly user: PrincipalId;
  contested: boolean;
  detached: readonly DetachedStream[];
  readonly expiry: ReturnType<typeof setTimeout>;
};

export type DetachedStreamOptions = {
  readonly newId: () => string;
  readonly now: () => number;
  readonly keptMs?: number;
};

export class DetachedStreams {
  /** by user, oldest first */
  readonly #lost = new Map<PrincipalId, readonly Lost[]>();

  constructor(
    private readonly hub: SubscriptionHub<State>,
    private readonly options: DetachedStreamOptions,
  ) {}

  /** The socket closed. Resolves when everything from now on is kept. */
  async left(peer: Peer, { unsent, writing, code }: Loss): Promise<void> {
    const { socket, principal } = peer;
    const observed = this.hub.observed(socket).map((session) => ({ session, now: session.snapshot() }));
    const isWriting = (ref: SessionRef) => writing !== null && sessionKey(writing) === sessionKey(ref);
    const unfinished = observed.flatMap(({ session, now }) => {
      const missed = unsent.filter((body) => conversationOf(body) === now.ref.id);
      const expected = missed.length > 0 || isRunning(now) || isWriting(now.ref);
      return expected ? [{ session, ref: now.ref, missed }] : [];
    });
    const joining = writing !== null && !observed.some(({ now }) => isWriting(now.ref)) ? [writing] : [];
    if (unfinished.length > 0 || joining.length > 0 || !(HAS_LEFT.has(code) || this.#standsForLost(peer))) {
      const lost = this.#add(principal.id, {
        id: socket.id,
        at: this.options.now(),
        byName: socket.session !== null,
        last: peer.last,
        conversations: [
          ...peer.resumed,
          ...[...observed.map(({ now }) => now.ref), ...joining].map(sessionKey),
        ],
        contested: false,
      });
      for (const { session, ref, missed } of unfinished) {
        const stream = this.#detach(lost, ref, missed);
        stream.position = positionOf(session);
        for (const body of missed) stream.buffer.send(JSON.stringify(body), body);
        this.hub.replace(ref, socket, stream.buffer);
      }
      this.hub.leave(socket);
      await Promise.all(joining.map((ref) => this.#place(lost, ref)));
    } else this.hub.leave(socket);
  }

  /** Keeps the events of these sessions from now on, for one client of the user. */
  async keep(user: PrincipalId, refs: readonly SessionRef[], contested = false): Promise<void> {
    const keys = refs.map(sessionKey);
    const at = this.options.now();
    const last = keys.length === 1 ? (keys[0] ?? null) : null;
    const known = { id: this.options.newId(), at, byName: false, last, conversations: keys, contested };
    const lost = this.#add(user, known);
    await Promise.all(refs.map((ref) => this.#place(lost, ref)));
  }

  /** The lost sockets of the user here, oldest first. */
  async of(user: PrincipalId): Promise<LostSocket[]> {
    await Promise.allSettled(this.#of(user).flatMap(({ detached }) => detached.map(({ placed }) => placed)));
    return this.#of(user).map((lost) => summaryOf(lost));
  }

  /** From now on, these lost sockets have a successor only if it names a conversation of theirs. */
  contest(user: PrincipalId, ids: readonly string[]): void {
    for (const lost of this.#of(user)) if (ids.includes(lost.id)) lost.contested = true;
  }

  /** Moves a lost socket to another node; null if it is not here any more. */
  give(user: PrincipalId, id: string): MovedSocket | null {
    const lost = this.#of(user).find((one) => one.id === id);
    if (!lost) return null;
    this.#drop(lost);
    const closed = lost.detached.flatMap(({ ref, unsent, position }) =>
      position ? [{ owner: ref.owner, id: ref.id, unsent: [...unsent], position }] : [],
    );
    return { ...summaryOf(lost), closed };
  }

  /** Keeps a lost socket of another node here. */
  async adopt(
    { closed, unfinished: _, ...known }: MovedSocket,
    user: PrincipalId,
    engine: Pick<Engine, 'events' | 'record'>,
  ): Promise<void> {
    const lost = this.#add(user, known);
    for (const one of closed) {
      const ref = { owner: one.owner, id: one.id };
      const record = await engine.record(ref);
      if (!record) continue;
      const { buffer } = this.#detach(lost, ref);
      const cursor = await Continuation.open(engine, one, { buffer, record });
      await this.hub.subscribe(ref, buffer, { cursor, shown: cursor.shown });
    }
  }

  /**
   * The socket takes over a lost one. A running session that it has named is not sent: it is shown from the
   * beginning of the answer when the socket joins.
   */
  succeed(peer: Peer, id: string, named: SessionRef | null = null): void {
    const { socket, principal } = peer;
    const lost = this.#of(principal.id).find((one) => one.id === id);
    // A slow socket may be closed in between: the next one takes over.
    if (!lost || !socket.open) return;
    peer.standing = 'successor';
    peer.last ??= lost.last;
    peer.resumed = lost.conversations;
    for (const stream of lost.detached) {
      if (!socket.open) break;
      this.#hand(stream, peer, named);
      this.#dropStream(lost, stream);
    }
    if (lost.detached.length > 0) {
      const next = this.#of(principal.id).find((one) => one.id === socket.id);
      if (!next) return;
      next.detached = [...next.detached, ...lost.detached];
      lost.detached = [];
    }
    this.#drop(lost);
  }

  /** The socket takes over one conversation, which several lost sockets had. */
  share(peer: Peer, named: SessionRef, isOpening: boolean): void {
    const key = sessionKey(named);
    for (const lost of this.#of(peer.principal.id).toReversed()) {
      const stream = lost.detached.find(({ ref }) => sessionKey(ref) === key);
      if (!stream || lost.at > peer.openedAt) continue;
      this.#hand(stream, peer, isOpening ? named : null);
      this.#dropStream(lost, stream);
      return;
    }
  }

  /**
   * The socket began a conversation of its own. If it can be the successor of one that had none, that one is not
   * expected back any more.
   */
  succeedBlank(peer: Peer): void {
    if (peer.standing !== 'unclear') return;
    const lost = this.#of(peer.principal.id);
    const blank = lost.find(({ at, conversations }) => at <= peer.openedAt && conversations.length === 0);
    if (blank) this.succeed(peer, blank.id);
  }

  /** The user continues the conversation on another node, on a socket that was opened at that time. */
  forget(ref: SessionRef, user: PrincipalId, openedAt: number): void {
    const key = sessionKey(ref);
    for (const lost of this.#of(user)) {
      const stream = lost.detached.find((one) => sessionKey(one.ref) === key);
      if (!stream || lost.at > openedAt) continue;
      this.#dropStream(lost, stream);
      if (lost.detached.length === 0) this.#drop(lost);
    }
  }

  /** True if its client is one whose earlier socket is still known as lost. */
  #standsForLost({ principal, openedAt, last, standing }: Peer): boolean {
    return standing === 'unclear' && last === null && this.#of(principal.id).some(({ at }) => at <= openedAt);
  }

  #hand({ ref, buffer }: DetachedStream, { socket, principal }: Peer, named: SessionRef | null): void {
    if (!maySee(ref, principal) || this.hub.isSubscribed(ref, socket)) return;
    const isNamed = named !== null && sessionKey(named) === sessionKey(ref);
    const [now] = this.hub.snapshots(buffer);
    if (!now || (isNamed && isRunning(now))) return;
    const kept = isNamed ? restated(buffer.bodies) : buffer.bodies;
    const asked = new Set(kept.map(requestOf));
    const running = this.hub.replace(ref, buffer, socket) as Body[];
    const newRequests = running.filter((body) => requestOf(body) !== null && !asked.has(requestOf(body)));
    const rest = [...kept, ...newRequests];
    for (let body = rest.shift(); body && socket.open; body = rest.shift()) {
      socket.send(JSON.stringify(body), body, pieces);
      if (socket.open) continue;
      const detached = this.#of(principal.id).flatMap((lost) => lost.detached);
      const again = detached.findLast((stream) => sessionKey(stream.ref) === sessionKey(ref));
      for (const left of rest) again?.buffer.send(JSON.stringify(left), left);
    }
  }

  #add(user: PrincipalId, known: Omit<LostSocket, 'unfinished'>): Lost {
    const expiry = setTimeout(() => this.#drop(lost), this.options.keptMs ?? KEPT_MS);
    // Does not delay the shutdown of the server.
    expiry.unref();
    const lost: Lost = { ...known, user, detached: [], expiry };
    const others = this.#of(user);
    this.#lost.set(user, [...others, lost]);
    if (others[0] && others.length >= MAX_PER_USER) this.#drop(others[0]);
    return lost;
  }

  #detach(lost: Lost, ref: SessionRef, unsent: readonly Body[] = []): DetachedStream {
    const drop = () => this.#dropStream(lost, stream);
    const buffer = new ReplayBuffer(this.options.newId() as ConnectionId, pieces, drop);
    const stream: DetachedStream = { ref, buffer, unsent, position: null, placed: Promise.resolve() };
    const all = this.#of(lost.user).flatMap((owner) => owner.detached.map((other) => ({ owner, other })));
    lost.detached = [...lost.detached, stream];
    if (all[0] && all.length >= MAX_PER_USER) this.#dropStream(all[0].owner, all[0].other);
    return stream;
  }

  /** Keeps the events of the session from now on. */
  async #place(lost: Lost, ref: SessionRef): Promise<void> {
    const stream = this.#detach(lost, ref);
    stream.placed = this.hub.subscribe(ref, stream.buffer, { shown: NOTHING });
    await stream.placed;
    const [session] = this.hub.observed(stream.buffer);
    if (session) stream.position = positionOf(session);
  }

  #dropStream(lost: Lost, stream: DetachedStream): void {
    lost.detached = lost.detached.filter((other) => other !== stream);
    stream.buffer.close();
    this.hub.leave(stream.buffer);
  }

  #drop(lost: Lost): void {
    clearTimeout(lost.expiry);
    const others = this.#of(lost.user).filter((other) => other !== lost);
    if (others.length > 0) this.#lost.set(lost.user, others);
    else this.#lost.delete(lost.user);
    for (const { buffer } of lost.detached) {
      buffer.close();
      this.hub.leave(buffer);
    }
  }

  #of(user: PrincipalId): readonly Lost[] {
    return this.#lost.get(user) ?? [];
  }
}

const summaryOf = ({ id, at, byName, last, conversations, contested, detached }: Lost): LostSocket => ({
  id,
  at,
  byName,
  last,
  conversations,
  contested,
  unfinished: detached.map(({ ref }) => sessionKey(ref)),
});

const isRunning = ({ turn, queued }: SessionSnapshot): boolean => turn !== null || queued > 0;

/** The id of an approval request. */
const requestOf = (body: Body): string | null =>
  body.type === 'tool_approval_required' ? body.payload.requestId : null;

/** For a client without earlier frames: sends each answer as one chunk before its end. */
const restated = (bodies: readonly Body[]): Body[] =>
  bodies.flatMap((body): Body[] => {
    if (body.type === 'message_chunk') return [];
    if (body.type !== 'message_complete') return [body];
    const { messageId, content, agentName } = body.payload;
    const payload = { messageId, chunk: content, agentName };
    return [{ type: 'message_chunk', conversationId: body.conversationId, payload }, body];
  });

// Buffers the frames of one conversation between a closed socket and its successor.

type BufferedFrame = { readonly body: Body; readonly key: string | null; readonly more: TextBuffer };

/**
 * Room for the largest answer, as chunks and as a whole. A full buffer is dropped: the history has the answer.
 */
const MAX_CHARACTERS = 16_000_000;

class ReplayBuffer implements Subscriber {
  readonly hidden = true;
  open = true;
  readonly #frames: BufferedFrame[] = [];
  #size = 0;

  constructor(
    readonly id: ConnectionId,
    private readonly pieces: Pieces<Body>,
    private readonly onFull: () => void,
  ) {}

  /** Buffers the pieces of one message as one frame. */
  send(text: string, frame?: object): void {
    if (!this.open || !frame) return;
    if (this.#size > MAX_CHARACTERS) {
      this.onFull();
      return;
    }
    const body = frame as Body;
    const key = this.pieces.key(body);
    const last = this.#frames.at(-1);
    if (last && key !== null && last.key === key) {
      const piece = this.pieces.text(body);
      last.more.add(piece);
      this.#size += piece.length;
    } else {
      this.#frames.push({ body, key, more: new TextBuffer() });
      this.#size += text.length;
    }
  }

  close(): void {
    this.open = false;
  }

  /** The buffered frames, in order. */
  get bodies(): Body[] {
    return this.#frames.map(({ body, more }) =>
      more.length === 0 ? body : this.pieces.with(body, this.pieces.text(body) + more),
    );
  }
}
