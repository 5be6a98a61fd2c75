/** The registry of a transport: the entries of this node, and mirrors of other nodes' entries. */

import type { Json } from '@parlance/protocol';
import type { NodeId } from '../core/ports/lease.ts';
import type { Clock, ClockTimer } from '../lib/clock.ts';
import { SIGNATURE_LENGTH, type Signatures } from './envelope.ts';
import type { PubSub, Timings } from './pub-sub.ts';
import type { Entry, FollowedEntries, OwnEntry, Registry } from './transport.ts';

export type RegistryOptions = {
  readonly node: NodeId;
  readonly sets: RegistrySets;
  readonly timings: Timings;
  readonly clock: Clock;
  readonly announce: (announcement: Announcement) => void;
  /** when the last message of the node was received */
  readonly lastSeenAt: (node: NodeId) => number | undefined;
};

/** Number of sets read in one round trip. */
const READ_AT_ONCE = 500;

export class NodeRegistry implements Registry {
  readonly #own: OwnEntries;
  readonly #mirrors = new Map<string, Mirror>();
  /** nodes that are gone: their remaining entries are ignored until they send a message */
  readonly #gone = new Set<NodeId>();
  readonly #renewing: ClockTimer;
  #complete: ClockTimer | null = null;
  #tickedAt: number;

  constructor(private readonly options: RegistryOptions) {
    const { node, sets, timings, clock } = options;
    this.#own = new OwnEntries(node, options);
    this.#tickedAt = sets.now();
    this.#renewing = clock.setInterval(() => this.#tick(), timings.renewMs / 10);
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
   * nodes that have lost the pub/sub service as well need time to register again.
   */
  async reread(): Promise<void> {
    const { clock } = this.options;
    clock.clear(this.#complete);
    this.#complete = clock.setTimeout(() => {
      this.#complete = null;
      void readAll([...this.#mirrors.values()], true);
    }, this.options.timings.rereadMs);
    this.#complete.unref();
    await readAll([...this.#mirrors.values()], false);
  }

  async close(): Promise<void> {
    this.options.clock.clear(this.#renewing);
    this.options.clock.clear(this.#complete);
    await this.#own.removeAll();
  }

  #tick(): void {
    const { sets, timings, lastSeenAt } = this.options;
    const paused = sets.now() - this.#tickedAt > timings.expiryMs / 2;
    this.#tickedAt = sets.now();
    if (!sets.connected) return;
    // Entries may have expired while this process was paused.
    if (paused) void this.#own.registerAll();
    this.#own.renew(sets.now() - timings.renewMs);
    const silentSince = sets.now() - timings.expiryMs;
    for (const mirror of this.#mirrors.values())
      mirror.removeIf(({ node, at }) => Math.max(at, lastSeenAt(node) ?? 0) < silentSince);
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

  /** Registers all entries again, since the pub/sub service may have lost them. */
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

// Removed members that may still be in their sets, because the pub/sub service was disconnected or has not responded
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

// The entries of other nodes under one key.

export type Mirrored = Entry & { readonly at: number };

const nameOf = (node: NodeId, id: string): string => JSON.stringify([node, id]);

export class Mirror {
  readonly entries = new Map<string, Mirrored>();
  readonly followers = new Set<() => void>();
  /** when the entries were last read; 0 if never */
  readAt = 0;
  /** names changed since a read was sent, whose result may be older */
  readonly #changedWhileReading = new Set<Set<string>>();

  constructor(
    private readonly key: string,
    private readonly sets: RegistrySets,
    /** whether to ignore entries of the node */
    private readonly isLeftOut: (node: NodeId) => boolean,
  ) {}

  add(entry: Entry): void {
    this.#touch(nameOf(entry.node, entry.id));
    this.#put(entry);
    this.#notify();
  }

  remove(node: NodeId, id: string): void {
    const name = nameOf(node, id);
    this.#touch(name);
    if (this.entries.delete(name)) this.#notify();
  }

  removeIf(gone: (entry: Mirrored) => boolean): void {
    let changed = false;
    for (const [name, entry] of this.entries) {
      if (!gone(entry)) continue;
      this.entries.delete(name);
      changed = true;
    }
    if (changed) this.#notify();
  }

  /** Adds registered entries; removes others if `complete`. */
  async read(complete: boolean): Promise<void> {
    const changed = new Set<string>();
    this.#changedWhileReading.add(changed);
    const members = await this.sets.members(this.key);
    this.#changedWhileReading.delete(changed);
    if (!members) return;
    this.readAt = this.sets.now();
    const registered = new Set<string>();
    for (const member of members) {
      const entry = decodeMember(this.key, member);
      if (!entry || this.isLeftOut(entry.node)) continue;
      const name = nameOf(entry.node, entry.id);
      registered.add(name);
      if (!changed.has(name)) this.#put(entry);
    }
    if (complete)
      for (const name of [...this.entries.keys()])
        if (!registered.has(name) && !changed.has(name)) this.entries.delete(name);
    this.#notify();
  }

  #put(entry: Entry): void {
    this.entries.set(nameOf(entry.node, entry.id), { ...entry, at: this.sets.now() });
  }

  #touch(name: string): void {
    for (const changed of this.#changedWhileReading) changed.add(name);
  }

  #notify(): void {
    for (const follower of [...this.followers]) follower();
  }
}

// The sets of the pub/sub service, for the registry, with signed members. Does nothing while disconnected and never throws: a failing
// pub/sub service reports that it is disconnected.

export type RegistrySetsOptions = {
  readonly pubSub: PubSub;
  /** prefix of all keys, so that clusters can share a pub/sub service */
  readonly prefix: string;
  readonly expiryMs: number;
  readonly now: () => number;
  readonly signatures: Signatures;
  /** Called for each member without a valid signature. */
  readonly onForged: () => void;
};

export class RegistrySets {
  connected = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: RegistrySetsOptions) {}

  now(): number {
    return this.options.now();
  }

  renew(key: string, member: string): void {
    if (!this.connected) return;
    const { pubSub, prefix, expiryMs } = this.options;
    this.#last = pubSub.renew(prefix + key, [this.#signed(key, member)], expiryMs).catch(reportedElsewhere);
  }

  /** Resolves with whether the member was removed. */
  remove(key: string, member: string): Promise<boolean> {
    if (!this.connected) return Promise.resolve(false);
    const { pubSub, prefix } = this.options;
    const removed = pubSub.remove(prefix + key, [this.#signed(key, member)]).then(
      () => true,
      () => false,
    );
    this.#last = removed;
    return removed;
  }

  /** Resolves when all earlier calls are done; calls are executed in order. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Null if the set cannot be read now. */
  async members(key: string): Promise<readonly string[] | null> {
    if (!this.connected) return null;
    const { pubSub, prefix, onForged } = this.options;
    const signed = await pubSub.members(prefix + key).catch(() => null);
    return (
      signed?.flatMap((text) => {
        const member = text.slice(SIGNATURE_LENGTH);
        if (this.#signed(key, member) === text) return [member];
        onForged();
        return [];
      }) ?? null
    );
  }

  #signed(key: string, member: string): string {
    const { prefix, signatures } = this.options;
    return signatures.of(`set ${prefix}${key}`, member) + member;
  }
}

const reportedElsewhere = (): void => undefined;

// Encodes a registry entry as a set member: node, id and value.

/** The entry of a node that only announces its presence. */
export const BARE: OwnEntry = { id: '', value: null };

export const encodeMember = (node: NodeId, { id, value }: OwnEntry): string =>
  JSON.stringify([node, id, value]);

/** Null if the text is not a valid member. */
export function decodeMember(key: string, member: string): Entry | null {
  try {
    const [node, id, value = null]: unknown[] = JSON.parse(member);
    return typeof node === 'string' && typeof id === 'string'
      ? { key, node, id, value: value as Json }
      : null;
  } catch {
    return null;
  }
}

/** Sent by a node when one of its entries changes. */
export type Announcement =
  | { readonly add: { readonly key: string; readonly id: string; readonly value: Json } }
  | { readonly remove: { readonly key: string; readonly id: string } };

/** Null if it is not a valid announcement. */
export function readAnnouncement(body: unknown): Announcement | null {
  const { add, remove } = (body ?? {}) as Partial<Record<'add' | 'remove', unknown>>;
  const { key, id, value = null } = (add ?? remove ?? {}) as Record<string, unknown>;
  if (typeof key !== 'string' || typeof id !== 'string') return null;
  return add === undefined ? { remove: { key, id } } : { add: { key, id, value: value as Json } };
}
