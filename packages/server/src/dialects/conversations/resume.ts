/**
 * Sends a socket the conversations that its predecessor left unfinished, on this node, on another one, or before a
 * restart.
 */
import { type Json, type Principal, PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { PreferenceStore } from '../../accounts/store.ts';
import { type Engine, type SessionRef, sessionKey } from '../../core/index.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { type DialectContext, reported } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import type { Body } from './contract.ts';
import {
  DetachedStreams,
  KEPT_MS,
  type Loss,
  LostSocket,
  MovedSocket,
  type Peer,
  predecessors,
} from './detached-streams.ts';
import { errorBody, type State } from './outbound.ts';

const MAX_WAITING = 100;

/** Messages between nodes. */
const CONTINUED = 'conversation.continued';
const Continued = z.object({ owner: PrincipalId, id: SessionId, user: PrincipalId, openedAt: z.number() });
const LOST = 'conversation.lost';
const LostQuery = z.object({ user: PrincipalId });
const CONTESTED = 'conversation.contested';
const Contested = z.object({ user: PrincipalId, ids: z.array(z.string()) });
const TAKEN = 'conversation.taken';
const Taken = z.object({ user: PrincipalId, id: z.string() });
const ANSWER_MS = 300;

/** A client disables its input during an answer, until the answer or an error ends it. */
const UNCLEAR =
  'The connection was lost. What was running continues on the server: reload its conversation, or send a message in it, to see the rest.';

/** `node`: null if it is this one */
type KnownLoss = LostSocket & { readonly node: NodeId | null };
type NodeId = NonNullable<Engine['transport']>['node'];

/** Shared by all sockets of a server. */
export class StreamResume {
  readonly detached: DetachedStreams;
  readonly #several: SeveralSockets;
  readonly #started: number;
  /** users that have connected since the start */
  readonly #returned = new Set<PrincipalId>();

  constructor(
    private readonly hub: SubscriptionHub<State>,
    private readonly ctx: Pick<DialectContext, 'engine' | 'log' | 'newId' | 'now' | 'preferences'>,
  ) {
    this.detached = new DetachedStreams(hub, ctx);
    this.#several = new SeveralSockets(ctx);
    this.#started = ctx.now();
    const { transport } = ctx.engine;
    transport?.on(CONTINUED, (body) => {
      const { owner, id, user, openedAt } = Continued.parse(body);
      this.detached.forget({ owner, id }, user, openedAt);
    });
    transport?.on(CONTESTED, (body) => {
      const { user, ids } = Contested.parse(body);
      this.detached.contest(user, ids);
    });
    transport?.respond(LOST, (body) => this.detached.of(LostQuery.parse(body).user) as Promise<Json>);
    transport?.respond(TAKEN, (body) => {
      const { user, id } = Taken.parse(body);
      return this.detached.give(user, id) as unknown as Json;
    });
  }

  /**
   * Keeps turns that a restart interrupted for their owners, whose sockets the restart closed. Unreadable
   * sessions are logged and skipped, so that they cannot prevent the start of the server.
   */
  async resume(): Promise<void> {
    try {
      const unfinished = await this.ctx.engine.unfinished();
      const own = unfinished.filter(({ dialect }) => dialect === 'conversations').map(({ ref }) => ref);
      for (const [user, refs] of Map.groupBy(own, ({ owner }) => owner)) {
        const several = await this.#several.before(user);
        if (several) for (const ref of refs) await this.#keep(user, [ref], several);
        else await this.#keep(user, refs, several);
      }
    } catch (thrown) {
      reported(thrown, this.ctx, {});
    }
  }

  async #keep(user: PrincipalId, refs: readonly SessionRef[], contested: boolean): Promise<void> {
    try {
      await this.detached.keep(user, refs, contested);
    } catch (thrown) {
      reported(thrown, this.ctx, { session: refs[0]?.id });
    }
  }

  /** Called when a socket has opened: it continues what its predecessor left, if that is clear. */
  async opened(peer: Peer, named: SessionRef | null): Promise<void> {
    const { id: user } = peer.principal;
    const isNew = this.ctx.now() - this.#started <= KEPT_MS;
    const before = isNew && this.#several.before(user);
    await this.#several.opened(user);
    const several = await before;
    const lost = await this.#lost(peer);
    if (named) {
      await this.#succeed(peer, lost, { named, isOpening: true });
      peer.last = sessionKey(named);
      this.#continued(peer, named);
    } else await this.#succeedOnly(peer, lost);
    if (isNew) await this.#showWaiting(peer, named, several);
  }

  closed(peer: Peer, loss: Loss): Promise<void> {
    this.#several.closed(peer.principal.id);
    return this.detached.left(peer, loss);
  }

  /** Called when the socket has started a conversation. */
  started(peer: Peer, ref: SessionRef): void {
    this.detached.succeedBlank(peer);
    peer.last = sessionKey(ref);
  }

  /** Called before the socket writes to the conversation, which can tell which socket is its predecessor. */
  async named(peer: Peer, ref: SessionRef): Promise<void> {
    if (!this.hub.isSubscribed(ref, peer.socket)) {
      const lost = peer.standing === 'unclear' ? await this.#lost(peer) : await this.#lostHere(peer);
      await this.#succeed(peer, lost, { named: ref, isOpening: false });
    }
    peer.last = sessionKey(ref);
    this.#continued(peer, ref);
  }

  /** Other nodes drop what they kept of the conversation for earlier sockets of the user. */
  #continued({ principal, openedAt }: Peer, { owner, id }: SessionRef): void {
    const body = { owner, id, user: principal.id, openedAt };
    this.ctx.engine.transport?.broadcast({ kind: CONTINUED, body });
  }

  /** The socket named no conversation: it has a predecessor if only one was lost. */
  async #succeedOnly(peer: Peer, lost: readonly KnownLoss[]): Promise<void> {
    const found = predecessors(lost, null);
    const [only, ...others] = found;
    if (!only) peer.standing = 'new';
    else if (others.length === 0 && !only.contested) await this.#take(peer, only, null);
    else {
      const ids = found.map(({ id }) => id);
      this.detached.contest(peer.principal.id, ids);
      this.ctx.engine.transport?.broadcast({ kind: CONTESTED, body: { user: peer.principal.id, ids } });
      if (found.some(({ unfinished }) => unfinished.length > 0)) tellUnclear(peer);
    }
  }

  /** The socket named a conversation: its predecessor is the socket that had it or, when it opens, the only one. */
  async #succeed(
    peer: Peer,
    lost: readonly KnownLoss[],
    { named, isOpening }: { readonly named: SessionRef; readonly isOpening: boolean },
  ): Promise<void> {
    const had = predecessors(lost, named);
    const isSole = isOpening && lost.length === 1 && !lost[0]?.contested;
    const [only, ...others] = isSole ? lost : had;
    if (only && others.length === 0 && peer.standing !== 'successor')
      await this.#take(peer, only, isOpening ? named : null);
    else if (only) this.detached.share(peer, named, isOpening);
    else if (isOpening) peer.standing = 'new';
    else this.detached.succeedBlank(peer);
  }

  async #take(peer: Peer, { id, node }: KnownLoss, named: SessionRef | null): Promise<void> {
    const { engine } = this.ctx;
    const { id: user } = peer.principal;
    if (node !== null) {
      const message = { kind: TAKEN, body: { user, id } };
      const moved = await engine.transport?.request(node, message, ANSWER_MS).catch(() => null);
      const parsed = MovedSocket.nullable().parse(moved ?? null);
      if (parsed) await this.detached.adopt(parsed, user, engine);
    }
    this.detached.succeed(peer, id, named);
  }

  /** The sockets of the user that were lost before this one was opened, on all nodes. */
  async #lost(peer: Peer): Promise<KnownLoss[]> {
    const { transport } = this.ctx.engine;
    const { id: user } = peer.principal;
    if (!transport?.up) return this.#lostHere(peer);
    const requests = transport.others.nodes.map(async (node) => {
      const answer = await transport.request(node, { kind: LOST, body: { user } }, ANSWER_MS);
      return z
        .array(LostSocket)
        .parse(answer)
        .map((lost) => ({ ...lost, node }));
    });
    const answers = await Promise.allSettled(requests);
    const elsewhere = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    return [...elsewhere, ...(await this.#lostHere(peer))].filter(({ at }) => at <= peer.openedAt);
  }

  async #lostHere({ principal, openedAt }: Peer): Promise<KnownLoss[]> {
    const here = await this.detached.of(principal.id);
    return here.filter(({ at }) => at <= openedAt).map((lost) => ({ ...lost, node: null }));
  }

  /** After a restart, sends pending approvals to the first socket, if the user had only one. */
  async #showWaiting(peer: Peer, named: SessionRef | null, several: boolean): Promise<void> {
    const { socket, principal } = peer;
    const isFirst = !this.#returned.has(principal.id);
    this.#returned.add(principal.id);
    if (!several && !isFirst) return;
    const waiting = await ownWaiting(this.ctx.engine, principal);
    const others = waiting.filter(({ id }) => id !== named?.id);
    if (several) {
      if (named === null && others.length > 0) tellUnclear(peer);
    } else for (const ref of others) await this.hub.subscribe(ref, socket, { shown: isApproval });
  }
}

/** Lets the client accept input again. Sent once. */
function tellUnclear(peer: Peer): void {
  if (peer.told) return;
  peer.told = true;
  peer.socket.sendFrame(errorBody('stream_error', UNCLEAR));
}

const isApproval = (body: object): boolean => (body as Body).type === 'tool_approval_required';

/** The user's own conversations in this dialect with a pending approval. */
async function ownWaiting(engine: Engine, principal: Principal): Promise<SessionRef[]> {
  // Listed with the role of a user: an admin's list would include all users.
  const owner: Principal = { ...principal, role: 'user' };
  const page = { limit: MAX_WAITING, status: ['waiting'], archived: 'included' } as const;
  const { sessions } = await engine.list(owner, page);
  return sessions.filter(({ dialect }) => dialect === 'conversations').map(({ ref }) => ref);
}

// Remembers, also across a crash, which users have had several sockets open at the same time. The contract has no
// id for a client: after a restart, this decides whether the next socket of a user can be that of an interrupted
// conversation. Users with one socket cause no writes.

/** `:` is not allowed in names of users. */
const documentOf = (user: PrincipalId) => `conversations:${user}` as PrincipalId;

type OpenSockets = {
  open: number;
  /** as it is stored; null until it was read */
  several: boolean | null;
  expiry: ReturnType<typeof setTimeout> | undefined;
};

class SeveralSockets {
  readonly #users = new Map<PrincipalId, OpenSockets>();
  readonly #before = new Map<PrincipalId, Promise<boolean>>();
  readonly #queue = new KeyedQueue();

  constructor(
    private readonly ctx: Pick<DialectContext, 'log'> & { readonly preferences: PreferenceStore },
  ) {}

  /** Whether the user had several sockets before the start of this server; asked within a minute of it. */
  before(user: PrincipalId): Promise<boolean> {
    const known = this.#before.get(user) ?? this.#read(user);
    this.#before.set(user, known);
    return known;
  }

  /** Resolves when it is durable that the user has several sockets. */
  async opened(user: PrincipalId): Promise<void> {
    const sockets = this.#users.get(user) ?? { open: 0, several: null, expiry: undefined };
    this.#users.set(user, sockets);
    sockets.open++;
    const stored = sockets.several ?? (await this.#read(user));
    sockets.several ??= stored;
    await this.#update(user, sockets);
  }

  closed(user: PrincipalId): void {
    const sockets = this.#users.get(user);
    if (!sockets) return;
    sockets.open--;
    if (sockets.several !== null) void this.#update(user, sockets);
  }

  async #update(user: PrincipalId, sockets: OpenSockets): Promise<void> {
    clearTimeout(sockets.expiry);
    if (sockets.open > 1) return sockets.several ? undefined : this.#write(user, sockets, true);
    if (sockets.several) {
      // The others may come back.
      const forget = () => this.#write(user, sockets, false).then(() => this.#update(user, sockets));
      sockets.expiry = setTimeout(forget, KEPT_MS);
      sockets.expiry.unref();
    } else if (sockets.open === 0 && this.#users.get(user) === sockets) this.#users.delete(user);
  }

  async #write(user: PrincipalId, sockets: OpenSockets, several: boolean): Promise<void> {
    sockets.several = several;
    try {
      await this.#queue.run(user, () => this.ctx.preferences.put(documentOf(user), { several }));
    } catch (thrown) {
      reported(thrown, this.ctx, {});
    }
  }

  async #read(user: PrincipalId): Promise<boolean> {
    try {
      return (await this.ctx.preferences.get(documentOf(user)))?.several === true;
    } catch (thrown) {
      reported(thrown, this.ctx, {});
      return false;
    }
  }
}
