/** The entries of other nodes under one key. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { Entry } from '../../core/ports/transport.ts';
import { decodeMember } from './entry-member.ts';
import type { RegistrySets } from './registry-sets.ts';

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
