/**
 * Sends a new socket the conversations that earlier sockets of its user left unfinished, even before a restart.
 */
import { type Json, type Principal, PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { Engine, SessionRef } from '../../core/api/index.ts';
import { type DialectContext, reported } from '../shared/dialect.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import type { Body } from './bodies.ts';
import { ClosedSocket } from './continuation.ts';
import { KEPT_MS, Orphans, type Peer } from './orphans.ts';
import type { State } from './projection.ts';

const MAX_WAITING = 100;

/** messages between nodes */
const CONTINUED = 'conversation.continued';
const Continued = z.object({ owner: PrincipalId, id: SessionId, user: PrincipalId });
const LEFT = 'conversation.left';
const Asked = z.object({ user: PrincipalId });
const ANSWER_MS = 300;

/** Shared by all sockets of a server. */
export class Inheritance {
  readonly orphans: Orphans;
  readonly #started: number;
  /** users that have connected since the start */
  readonly #returned = new Set<PrincipalId>();

  constructor(
    private readonly hub: SubscriptionHub<State>,
    private readonly ctx: Pick<DialectContext, 'engine' | 'log' | 'newId' | 'now'>,
  ) {
    this.orphans = new Orphans(hub, ctx.newId);
    this.#started = ctx.now();
    ctx.engine.transport?.on(CONTINUED, (body) => {
      const { owner, id, user } = Continued.parse(body);
      this.orphans.forget({ owner, id }, user);
    });
    ctx.engine.transport?.respond(LEFT, async (body) => {
      const left = await this.orphans.give(Asked.parse(body).user);
      return left as unknown as Json;
    });
  }

  /**
   * Called when a socket of the user names the conversation or writes to it: other nodes drop what they kept of
   * it.
   */
  continued({ owner, id }: SessionRef, user: PrincipalId): void {
    this.ctx.engine.transport?.broadcast({ kind: CONTINUED, body: { owner, id, user } });
  }

  /**
   * Keeps turns that a restart interrupted for their owners, whose sockets the restart closed. Unreadable
   * sessions are logged and skipped, so that they cannot prevent the start of the server.
   */
  async resume(): Promise<void> {
    try {
      const unfinished = await this.ctx.engine.unfinished();
      const own = unfinished.filter(({ dialect }) => dialect === 'conversations');
      for (const { ref } of own) await this.#keep(ref);
    } catch (thrown) {
      reported(thrown, this.ctx, {});
    }
  }

  async #keep(ref: SessionRef): Promise<void> {
    try {
      await this.orphans.keep(ref, ref.owner);
    } catch (thrown) {
      reported(thrown, this.ctx, { session: ref.id });
    }
  }

  async take({ socket, principal }: Peer, named: SessionRef | null): Promise<void> {
    await this.#adopt(principal);
    await this.orphans.inherit({ socket, principal }, named);
    if (this.#isFirst(principal.id))
      for (const ref of await ownWaiting(this.ctx.engine, principal))
        if (ref.id !== named?.id) await this.hub.subscribe(ref, socket, { shown: isApproval });
  }

  /** Continues conversations here that sockets of the user left at other nodes. */
  async #adopt({ id: user }: Principal): Promise<void> {
    const { engine } = this.ctx;
    const { transport } = engine;
    if (!transport?.up) return;
    const requests = transport.others.nodes.map((node) =>
      transport.request(node, { kind: LEFT, body: { user } }, ANSWER_MS),
    );
    for (const answer of await Promise.allSettled(requests)) {
      if (answer.status === 'rejected') continue;
      for (const left of z.array(ClosedSocket).parse(answer.value))
        await this.orphans
          .adopt(left, user, engine)
          .catch((thrown) => reported(thrown, this.ctx, { session: left.id }));
    }
  }

  /** True for the first connection of the user within a minute of the start. */
  #isFirst(user: PrincipalId): boolean {
    if (this.ctx.now() - this.#started > KEPT_MS || this.#returned.has(user)) return false;
    this.#returned.add(user);
    return true;
  }
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
