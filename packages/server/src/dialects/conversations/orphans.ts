/**
 * Conversations whose socket closed before it had received everything. Each continues on the next socket of the
 * same user that opens within a minute, from the frame after the last one sent.
 */
import type { ConnectionId, Principal, PrincipalId } from '@parlance/protocol';
import {
  type Engine,
  maySee,
  type SessionRef,
  type SessionSnapshot,
  sessionKey,
} from '../../core/api/index.ts';
import type { Socket } from '../../http/connection.ts';
import { NOTHING, type SubscriptionHub } from '../shared/subscription-hub.ts';
import { type Body, conversationOf } from './bodies.ts';
import { type ClosedSocket, Continuation, type Position, positionOf } from './continuation.ts';
import { Mailbox } from './mailbox.ts';
import { pieces, type State } from './projection.ts';

export const KEPT_MS = 60_000;
const MAX_PER_USER = 32;

/** A socket and its authenticated user. */
export type Peer = { readonly socket: Socket; readonly principal: Principal };

type Orphan = {
  readonly user: PrincipalId;
  readonly ref: SessionRef;
  readonly mailbox: Mailbox;
  /** frames that the closed socket was due but not sent */
  readonly unsent: readonly Body[];
  /** how far it has read; null until the mailbox is subscribed */
  position: Position | null;
  /** Settles when the mailbox is subscribed. */
  placed: Promise<void>;
  readonly expiry: ReturnType<typeof setTimeout>;
};

export class Orphans {
  /** by user, oldest first */
  readonly #orphans = new Map<PrincipalId, Orphan[]>();

  constructor(
    private readonly hub: SubscriptionHub<State>,
    private readonly newId: () => string,
    private readonly keptMs = KEPT_MS,
  ) {}

  /** The socket closed. `writing` is the session that it was sending a message to. */
  left({ socket, principal }: Peer, unsent: readonly Body[], writing: SessionRef | null): void {
    for (const session of this.hub.observed(socket)) {
      const now = session.snapshot();
      const missed = unsent.filter((body) => conversationOf(body) === now.ref.id);
      const expected = isRunning(now) || (writing !== null && sessionKey(writing) === sessionKey(now.ref));
      if (!expected && missed.length === 0) continue;
      const orphan = this.#add(principal.id, now.ref, missed);
      const { mailbox } = orphan;
      orphan.position = positionOf(session);
      for (const body of missed) mailbox.send(JSON.stringify(body), body);
      this.hub.replace(now.ref, socket, mailbox);
    }
    this.hub.leave(socket);
  }

  /** Keeps the events of the session from now on for the user. */
  async keep(ref: SessionRef, user: PrincipalId): Promise<void> {
    const orphan = this.#add(user, ref);
    orphan.placed = this.hub.subscribe(ref, orphan.mailbox, { shown: NOTHING });
    await orphan.placed;
    const [session] = this.hub.observed(orphan.mailbox);
    if (session) orphan.position = positionOf(session);
  }

  /** Continues a conversation here that a socket of another node left. */
  async adopt(
    left: ClosedSocket,
    user: PrincipalId,
    engine: Pick<Engine, 'events' | 'record'>,
  ): Promise<void> {
    const ref = { owner: left.owner, id: left.id };
    const record = await engine.record(ref);
    if (!record) return;
    const { mailbox } = this.#add(user, ref);
    const cursor = await Continuation.open(engine, left, { mailbox, record });
    await this.hub.subscribe(ref, mailbox, { cursor, shown: cursor.shown });
  }

  /** Hands the orphans of the user over to another node; they are no longer kept here. */
  async give(user: PrincipalId): Promise<ClosedSocket[]> {
    await Promise.allSettled(this.#of(user).map(({ placed }) => placed));
    return this.#of(user).flatMap((orphan) => {
      const { ref, unsent, position } = orphan;
      this.#drop(orphan);
      return position ? [{ owner: ref.owner, id: ref.id, unsent: [...unsent], position }] : [];
    });
  }

  /**
   * The socket takes over the orphans of its user. If it names a running session, that session is shown from
   * the beginning of the answer when the socket joins.
   */
  async inherit({ socket, principal }: Peer, named: SessionRef | null): Promise<void> {
    await Promise.allSettled(this.#of(principal.id).map(({ placed }) => placed));
    const taken = new Set(this.hub.snapshots(socket).map(({ ref }) => sessionKey(ref)));
    for (const orphan of this.#of(principal.id)) {
      const key = sessionKey(orphan.ref);
      if (taken.has(key)) continue;
      // A slow socket may be closed in between: the next one takes over the rest.
      if (!socket.open) return;
      taken.add(key);
      const isNamed = named !== null && sessionKey(named) === key;
      if (maySee(orphan.ref, principal)) this.#hand(orphan, socket, isNamed);
      this.#drop(orphan);
    }
  }

  /** The user continues the conversation on another node: drops it here. */
  forget(ref: SessionRef, user: PrincipalId): void {
    const key = sessionKey(ref);
    for (const orphan of this.#of(user)) if (sessionKey(orphan.ref) === key) this.#drop(orphan);
  }

  #hand({ user, ref, mailbox }: Orphan, socket: Socket, isNamed: boolean): void {
    const [now] = this.hub.snapshots(mailbox);
    if (!now || (isNamed && isRunning(now))) return;
    const kept = isNamed ? restated(mailbox.bodies) : mailbox.bodies;
    const asked = new Set(kept.map(requestOf));
    const running = this.hub.replace(ref, mailbox, socket) as Body[];
    const newRequests = running.filter((body) => requestOf(body) !== null && !asked.has(requestOf(body)));
    const rest = [...kept, ...newRequests];
    for (let body = rest.shift(); body && socket.open; body = rest.shift()) {
      socket.send(JSON.stringify(body), body, pieces);
      if (socket.open) continue;
      const again = this.#of(user).findLast((orphan) => sessionKey(orphan.ref) === sessionKey(ref));
      for (const left of rest) again?.mailbox.send(JSON.stringify(left), left);
    }
  }

  #add(user: PrincipalId, ref: SessionRef, unsent: readonly Body[] = []): Orphan {
    const drop = () => this.#drop(orphan);
    const mailbox = new Mailbox(this.newId() as ConnectionId, pieces, drop);
    const expiry = setTimeout(drop, this.keptMs);
    // Does not delay the shutdown of the server.
    expiry.unref();
    const placed = Promise.resolve();
    const orphan: Orphan = { user, ref, mailbox, unsent, position: null, placed, expiry };
    const others = this.#of(user);
    this.#orphans.set(user, [...others, orphan]);
    if (others[0] && others.length >= MAX_PER_USER) this.#drop(others[0]);
    return orphan;
  }

  #drop(orphan: Orphan): void {
    clearTimeout(orphan.expiry);
    orphan.mailbox.close();
    this.hub.leave(orphan.mailbox);
    const others = this.#of(orphan.user).filter((other) => other !== orphan);
    if (others.length > 0) this.#orphans.set(orphan.user, others);
    else this.#orphans.delete(orphan.user);
  }

  #of(user: PrincipalId): readonly Orphan[] {
    return this.#orphans.get(user) ?? [];
  }
}

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
