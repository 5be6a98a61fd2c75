/**
 * Turns whose socket was lost before they ended, also by a restart of the server. The client that registers
 * again with the same device, or writes to the session, receives how they end: it keeps its input disabled
 * until then.
 */
import type { Principal, PrincipalId } from '@parlance/protocol';
import { type SessionRef, sessionKey } from '../../core/index.ts';
import type { Socket } from '../../http/connection.ts';
import { reported } from '../kit/dialect.ts';
import { replay } from '../kit/replay.ts';
import type { Cursor, SubscriptionHub } from '../kit/subscription-hub.ts';
import { projection, type State } from './outbound.ts';
import type { ExtensionContext } from './routes.ts';

const KEPT_MS = 10 * 60_000;
const MAX_LOST = 1_000;
const MAX_INHERITED = 20;
const PAGE = 500;

/** The label of a session with the device that last wrote to it. */
export const DEVICE = 'device';

type LostTurn = {
  readonly ref: SessionRef;
  readonly user: PrincipalId;
  readonly device: string | null;
  /** first event that the projection needs */
  readonly since: number;
  /** the last event whose frames were sent */
  readonly seq: number;
  readonly at: number;
};

export type Successor = {
  readonly user: PrincipalId;
  readonly device: string | null;
  readonly socket: Socket;
};

/** Shared by all sockets of a server. */
export class LostTurns {
  /** oldest first */
  readonly #lost = new Map<string, LostTurn>();

  constructor(
    private readonly hub: SubscriptionHub<State>,
    private readonly ctx: Pick<ExtensionContext, 'engine' | 'log' | 'now'>,
  ) {}

  /** The socket of the user has closed; call it before its subscriptions end. */
  left(socket: Socket, user: PrincipalId, device: string | null): void {
    for (const session of this.hub.observed(socket)) {
      const { ref, turn, queued, seq } = session.snapshot();
      if (turn === null && queued === 0) continue;
      const since = session.eventsSinceIdle()[0]?.seq ?? seq + 1;
      this.#add({ ref, user, device, since, seq, at: this.ctx.now() });
    }
  }

  /** The sockets of turns that a restart interrupted were lost with it. */
  async resume(): Promise<void> {
    const { engine, now } = this.ctx;
    try {
      for (const { ref, dialect, labels, head } of await engine.unfinished()) {
        const device = labels[DEVICE] ?? null;
        if (device === null && dialect !== 'extension') continue;
        const { began } = await engine.snapshot(ref);
        this.#add({ ref, user: ref.owner, device, since: began ?? head + 1, seq: head, at: now() });
      }
    } catch (thrown) {
      // An unreadable session must not prevent the start of the server.
      reported(thrown, this.ctx, {});
    }
  }

  /** The sessions that the device continues: those it left, and those with an unfinished turn of it. */
  async of(principal: Principal, device: string): Promise<SessionRef[]> {
    const left = [...this.#lost.values()].filter(
      (lost) => lost.user === principal.id && lost.device === device && !this.#isOver(lost),
    );
    // Listed with the role of a user: an admin's list would include all users.
    const { sessions } = await this.ctx.engine.list(
      { ...principal, role: 'user' },
      { status: ['running', 'waiting'], label: { name: DEVICE, value: device }, limit: MAX_INHERITED },
    );
    const refs = [...left, ...sessions].map(({ ref }) => ref);
    return [...new Map(refs.map((ref) => [sessionKey(ref), ref])).values()];
  }

  /**
   * Sends the socket how turns that its client lost have ended, while the hub subscribes it; undefined if there
   * are none.
   */
  take(ref: SessionRef, { user, device, socket }: Successor): Cursor | undefined {
    const key = keyOf(ref, user);
    const lost = this.#lost.get(key);
    if (!lost || lost.device !== device || this.hub.isSubscribed(ref, socket)) return undefined;
    this.#lost.delete(key);
    if (this.#isOver(lost)) return undefined;
    const { engine } = this.ctx;
    let read = lost.since - 1;
    let state: State | null = null;
    return {
      // All events since the turn started are replayed, even if none is new.
      get seq() {
        return read;
      },
      async catchUp(head) {
        state ??= projection.start(await engine.snapshot(ref));
        while (read < head) {
          const events = await engine.events(ref, read, Math.min(PAGE, head - read));
          if (events.length === 0) read = head; // deleted meanwhile
          for (const { event, state: next, bodies } of replay(projection.step, state, events)) {
            state = next;
            read = event.seq;
            if (event.seq > lost.seq && ENDS.has(event.type))
              for (const body of bodies) socket.sendFrame(body);
          }
        }
      },
    };
  }

  #add(lost: LostTurn): void {
    const key = keyOf(lost.ref, lost.user);
    this.#lost.delete(key);
    this.#lost.set(key, lost);
    for (const [oldest, { at }] of this.#lost) {
      if (this.#lost.size <= MAX_LOST && this.ctx.now() - at <= KEPT_MS) break;
      this.#lost.delete(oldest);
    }
  }

  #isOver({ at }: LostTurn): boolean {
    return this.ctx.now() - at > KEPT_MS;
  }
}

const ENDS: ReadonlySet<string> = new Set(['turn.ended', 'turn.failed', 'turn.cancelled']);

const keyOf = (ref: SessionRef, user: PrincipalId): string => JSON.stringify([sessionKey(ref), user]);
