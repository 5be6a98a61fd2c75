/** The entries of this node: registered while it is connected, and renewed until removed. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { OwnEntry } from '../../core/ports/transport.ts';
import { type Announcement, BARE, encodeMember } from './entry-member.ts';
import type { RegistrySets } from './registry-sets.ts';
import { RemovedMembers } from './removed-members.ts';
import type { Timings } from './timings.ts';

export type OwnEntriesOptions = {
  readonly sets: RegistrySets;
  readonly announce: (announcement: Announcement) => void;
  readonly timings: Timings;
};

type Own = {
  readonly key: string;
  entry: OwnEntry;
  member: string;
  /** number of times it was added */
  count: number;
  renewedAt: number;
};

export class OwnEntries {
  /** by key and id; the most recently renewed last */
  readonly #entries = new Map<string, Own>();
  readonly #removed: RemovedMembers;
  readonly #sets: RegistrySets;
  readonly #announce: (announcement: Announcement) => void;

  constructor(
    private readonly node: NodeId,
    { sets, announce, timings }: OwnEntriesOptions,
  ) {
    this.#sets = sets;
    this.#announce = announce;
    this.#removed = new RemovedMembers(sets, timings.expiryMs);
  }

  add(key: string, entry: OwnEntry = BARE): () => void {
    const name = JSON.stringify([key, entry.id]);
    const member = encodeMember(this.node, entry);
    const own = this.#entries.get(name) ?? { key, entry, member, count: 0, renewedAt: 0 };
    own.count++;
    this.#entries.set(name, own);
    if (own.member !== member) {
      this.#removed.remove(key, own.member);
      Object.assign(own, { entry, member });
      this.#register(name, own);
    } else if (own.count === 1) this.#register(name, own);
    let removed = false;
    return () => {
      if (removed) return;
      removed = true;
      this.#remove(name, own);
    };
  }

  /** Registers all entries again, since the carrier may have lost them. */
  async registerAll(): Promise<void> {
    this.#removed.removeAgain();
    for (const [name, own] of [...this.#entries]) this.#register(name, own);
    await this.#sets.settled();
  }

  /** Renews entries registered before the given time. */
  renew(before: number): void {
    for (const [name, own] of this.#entries) {
      if (own.renewedAt >= before) return;
      this.#renew(name, own);
    }
  }

  async removeAll(): Promise<void> {
    for (const { key, member } of this.#entries.values()) void this.#sets.remove(key, member);
    this.#entries.clear();
    await this.#sets.settled();
  }

  #register(name: string, own: Own): void {
    if (!this.#sets.connected) return;
    this.#renew(name, own);
    const { key, entry } = own;
    this.#announce({ add: { key, id: entry.id, value: entry.value } });
  }

  #renew(name: string, own: Own): void {
    own.renewedAt = this.#sets.now();
    this.#entries.delete(name);
    this.#entries.set(name, own);
    this.#sets.renew(own.key, own.member);
  }

  #remove(name: string, own: Own): void {
    if (--own.count > 0 || this.#entries.get(name) !== own) return;
    this.#entries.delete(name);
    this.#removed.remove(own.key, own.member);
    if (this.#sets.connected) this.#announce({ remove: { key: own.key, id: own.entry.id } });
  }
}
