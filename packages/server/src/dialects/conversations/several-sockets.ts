/**
 * Remembers, also across a crash, which users have had several sockets open at the same time. The contract has no
 * id for a client: after a restart, this decides whether the next socket of a user can be that of an interrupted
 * conversation. Users with one socket cause no writes.
 */
import type { PrincipalId } from '@parlance/protocol';
import type { PreferenceStore } from '../../core/api/index.ts';
import { type DialectContext, reported } from '../shared/dialect.ts';
import { KeyedQueue } from '../shared/keyed-queue.ts';
import { KEPT_MS } from './orphans.ts';

/** `:` is not allowed in names of users. */
const documentOf = (user: PrincipalId) => `conversations:${user}` as PrincipalId;

type OpenSockets = {
  open: number;
  /** as it is stored; null until it was read */
  several: boolean | null;
  expiry: ReturnType<typeof setTimeout> | undefined;
};

export class SeveralSockets {
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
