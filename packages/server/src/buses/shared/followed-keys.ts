/** A follower's view of the entries of other nodes under some keys. */
import type { NodeId } from '../../core/ports/lease.ts';
import type { Entry, FollowedEntries } from '../../core/ports/transport.ts';
import type { Mirror } from './mirror.ts';

export class FollowedKeys implements FollowedEntries {
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
