/** Channel names: one channel per node, and one that all nodes read. */
import type { NodeId } from '../../core/ports/lease.ts';

export class Channels {
  readonly prefix: string;
  readonly everyone: string;

  constructor(cluster: string) {
    this.prefix = `parlance:${cluster}:`;
    this.everyone = `${this.prefix}all`;
  }

  of(node: NodeId): string {
    return this.prefix + node;
  }

  /** Null for the channel that all nodes read. */
  nodeOf(channel: string): NodeId | null {
    return channel === this.everyone ? null : channel.slice(this.prefix.length);
  }
}
