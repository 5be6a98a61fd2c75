/** The registry of a transport: the entries of this node, and mirrors of other nodes' entries. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { FollowedEntries, OwnEntry, Registry } from '../../core/ports/transport.ts';
import { type Announcement, readAnnouncement } from './entry-member.ts';
import { FollowedKeys } from './followed-keys.ts';
import { Mirror } from './mirror.ts';
import { OwnEntries } from './own-entries.ts';
import type { RegistrySets } from './registry-sets.ts';
import type { Timings } from './timings.ts';

export type RegistryOptions = {
  readonly node: NodeId;
  readonly sets: RegistrySets;
  readonly timings: Timings;
  readonly announce: (announcement: Announcement) => void;
  /** when the last message of the node was received */
  readonly heardAt: (node: NodeId) => number | undefined;
};

/** Number of sets read in one round trip. */
const READ_AT_ONCE = 500;

export class NodeRegistry implements Registry {
  readonly #own: OwnEntries;
  readonly #mirrors = new Map<string, Mirror>();
  /** nodes that are gone: their remaining entries are ignored until they send a message */
  readonly #gone = new Set<NodeId>();
  readonly #renewing: ReturnType<typeof setInterval>;
  #complete: ReturnType<typeof setTimeout> | null = null;
  #tickedAt: number;

  constructor(private readonly options: RegistryOptions) {
    const { node, sets, timings } = options;
    this.#own = new OwnEntries(node, options);
    this.#tickedAt = sets.now();
    this.#renewing = setInterval(() => this.#tick(), timings.renewMs / 10);
    this.#renewing.unref();
  }

  add(key: string, entry?: OwnEntry): () => void {
    return this.#own.add(key, entry);
  }

  follow(keys: readonly string[]): FollowedEntries {
    const mirrors = keys.map((key) => this.#mirrorOf(key));
    const ready = readAll(
      mirrors.filter(({ readAt }) => readAt === 0),
      false,
    );
    return new FollowedKeys(mirrors, ready, () => this.#dropUnused(keys));
  }

  forget(node: NodeId): void {
    this.#gone.add(node);
    for (const mirror of this.#mirrors.values()) mirror.removeIf((entry) => entry.node === node);
  }

  /** The node has sent a message, so it is not gone. */
  sawMessage(node: NodeId): void {
    if (this.#gone.delete(node)) void this.reread();
  }

  announced(from: NodeId, body: unknown): void {
    const announcement = readAnnouncement(body);
    if (!announcement) throw new TypeError('not an announcement');
    if ('add' in announcement)
      this.#mirrors.get(announcement.add.key)?.add({ ...announcement.add, node: from });
    else this.#mirrors.get(announcement.remove.key)?.remove(from, announcement.remove.id);
  }

  /** Registers the entries of this node and reads those of other nodes. */
  async restore(): Promise<void> {
    await Promise.all([this.#own.registerAll(), this.reread()]);
  }

  /**
   * Call if announcements may have been lost. Adds registered entries now, and removes others later, since
   * nodes that have lost the carrier as well need time to register again.
   */
  async reread(): Promise<void> {
    if (this.#complete) clearTimeout(this.#complete);
    this.#complete = setTimeout(() => {
      this.#complete = null;
      void readAll([...this.#mirrors.values()], true);
    }, this.options.timings.rereadMs);
    this.#complete.unref();
    await readAll([...this.#mirrors.values()], false);
  }

  async close(): Promise<void> {
    clearInterval(this.#renewing);
    if (this.#complete) clearTimeout(this.#complete);
    await this.#own.removeAll();
  }

  #tick(): void {
    const { sets, timings, heardAt } = this.options;
    const paused = sets.now() - this.#tickedAt > timings.expiryMs / 2;
    this.#tickedAt = sets.now();
    if (!sets.connected) return;
    // Entries may have expired while this process was paused.
    if (paused) void this.#own.registerAll();
    this.#own.renew(sets.now() - timings.renewMs);
    const silentSince = sets.now() - timings.expiryMs;
    for (const mirror of this.#mirrors.values())
      mirror.removeIf(({ node, at }) => Math.max(at, heardAt(node) ?? 0) < silentSince);
    const unread = [...this.#mirrors.values()].filter(({ readAt }) => readAt < silentSince);
    void readAll(unread.slice(0, READ_AT_ONCE), true);
  }

  #mirrorOf(key: string): Mirror {
    const existing = this.#mirrors.get(key);
    if (existing) return existing;
    const mirror = new Mirror(key, this.options.sets, (node) => this.#isLeftOut(node));
    this.#mirrors.set(key, mirror);
    return mirror;
  }

  #isLeftOut(node: NodeId): boolean {
    return node === this.options.node || this.#gone.has(node);
  }

  #dropUnused(keys: readonly string[]): void {
    for (const key of keys) if (this.#mirrors.get(key)?.followers.size === 0) this.#mirrors.delete(key);
  }
}

async function readAll(mirrors: readonly Mirror[], complete: boolean): Promise<void> {
  for (let start = 0; start < mirrors.length; start += READ_AT_ONCE) {
    const slice = mirrors.slice(start, start + READ_AT_ONCE);
    await Promise.all(slice.map((mirror) => mirror.read(complete)));
  }
}
