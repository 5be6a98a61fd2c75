/** The registry of a transport: the entries of this node, and mirrors of other nodes' entries. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { Entry, FollowedEntries, OwnEntry, Registry } from '../../core/ports/transport.ts';
import { type Announcement, BARE, encodeMember, readAnnouncement } from './entry-member.ts';

import { Mirror } from './mirror.ts';

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

// A follower's view of the entries of other nodes under some keys.

class FollowedKeys implements FollowedEntries {
  nodes: readonly NodeId[] = [];
  entries: readonly Entry[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #update = (): void => this.#refresh();

  constructor(
    private readonly mirrors: readonly Mirror[],
    readonly ready: Promise<void>,
    private readonly onClose: () => void,
  ) {
    for (const mirror of mirrors) mirror.followers.add(this.#update);
    this.#refresh();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    for (const mirror of this.mirrors) mirror.followers.delete(this.#update);
    this.#listeners.clear();
    this.onClose();
  }

  #refresh(): void {
    const entries = this.mirrors.flatMap((mirror) => [...mirror.entries.values()]);
    if (sameEntries(entries, this.entries)) return;
    this.entries = entries;
    const nodes = [...new Set(entries.map(({ node }) => node))].sort();
    if (nodes.join('\n') !== this.nodes.join('\n')) this.nodes = nodes;
    for (const listener of [...this.#listeners]) listener();
  }
}

const sameEntries = (one: readonly Entry[], other: readonly Entry[]): boolean =>
  one.length === other.length && one.every((entry, index) => isSame(entry, other[index]));

const isSame = (one: Entry, other: Entry | undefined): boolean =>
  other !== undefined &&
  one.key === other.key &&
  one.node === other.node &&
  one.id === other.id &&
  JSON.stringify(one.value) === JSON.stringify(other.value);

// The entries of this node: registered while it is connected, and renewed until removed.

type OwnEntriesOptions = {
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

class OwnEntries {
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

// Removed members that may still be in their sets, because the carrier was disconnected or has not responded
// yet. Otherwise they would stay visible to other nodes until they expire.

type Removed = { readonly key: string; readonly member: string; readonly at: number };

class RemovedMembers {
  /** oldest first */
  readonly #removed = new Map<string, Removed>();

  constructor(
    private readonly sets: RegistrySets,
    private readonly expiryMs: number,
  ) {}

  remove(key: string, member: string): void {
    this.#forgetExpired();
    const removed = { key, member, at: this.sets.now() };
    this.#removed.set(JSON.stringify([key, member]), removed);
    void this.#try(removed);
  }

  /** Call after a connect, before entries are registered again. */
  removeAgain(): void {
    this.#forgetExpired();
    for (const removed of this.#removed.values()) void this.#try(removed);
  }

  async #try(removed: Removed): Promise<void> {
    const name = JSON.stringify([removed.key, removed.member]);
    if ((await this.sets.remove(removed.key, removed.member)) && this.#removed.get(name) === removed)
      this.#removed.delete(name);
  }

  #forgetExpired(): void {
    const expired = this.sets.now() - this.expiryMs;
    for (const [name, { at }] of this.#removed) {
      if (at > expired) return;
      this.#removed.delete(name);
    }
  }
}
