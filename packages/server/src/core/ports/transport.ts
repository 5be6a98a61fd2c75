/**
 * Messages between the nodes of a cluster. Nothing depends on their arrival: events are in the store, and whoever missed
 * a message reads them there. `buses/contract/` tests every promise made here.
 */
import type { Json } from '@parlance/protocol';
import type { NodeId } from './lease.ts';

/** `kind` names the receiver of the message; the transport does not read `body`. */
export type NodeMessage = { readonly kind: string; readonly body: Json };

/**
 * Kinds with an effect outside of the server. They carry a signature with the secret of the cluster, so that whoever can
 * write to the carrier can neither have a client run a tool nor open a channel. They can be sent and requested, not
 * broadcast.
 */
export const SIGNED_KINDS: ReadonlySet<string> = new Set([
  'tool.request',
  'tool.progress',
  'tool.answer',
  'channel.permit',
]);

/** Messages of one sender arrive in the order of its calls, whether sent, broadcast or requested, each at most once. */
export interface Transport {
  readonly node: NodeId;
  /** False: messages are dropped instead of sent. */
  readonly up: boolean;
  /** Encodes the message once and returns; it leaves in a batch within milliseconds. Dropped while the transport is down. */
  send(to: readonly NodeId[], message: NodeMessage): void;
  /** To every other node. */
  broadcast(message: NodeMessage): void;
  /** The receiver of a kind, one at a time. It checks `body`: a message for which it throws is logged and counted. */
  on(kind: string, receive: (body: unknown, from: NodeId) => void): () => void;
  /**
   * Leaves at once and resolves with the answer. Rejects with `NoAnswer` after `timeoutMs`, or as soon as it is known that
   * none will come: the transport is down, no such node listens, or the other side has refused.
   */
  request(to: NodeId, message: NodeMessage, timeoutMs: number): Promise<unknown>;
  /** Answers the requests of a kind; what it throws, or rejects with, refuses the request. */
  respond(kind: string, answer: (body: unknown, from: NodeId) => Json | Promise<Json>): () => void;
  /** Called when messages flow again and the entries of this node are registered. */
  onUp(listener: () => void): () => void;
  onDown(listener: () => void): () => void;
  /** Called when messages of that node have not arrived here, although this node was up. */
  onLost(listener: (from: NodeId) => void): () => void;
  readonly registry: Registry;
  /** The other nodes of the cluster. */
  readonly others: Followed;
  /** Removes the entries of this node. */
  close(): Promise<void>;
}

/**
 * Announcements of nodes: the sessions they watch and the clients connected to them. Entries last as long as their
 * node renews them, and are registered again if the carrier has lost them.
 */
export interface Registry {
  /**
   * Returns what removes the entry. An entry that is added n times is removed by the nth removal; the last value counts.
   * A node that follows the key has the entry before it receives what this node sends afterwards.
   */
  add(key: string, entry?: OwnEntry): () => void;
  /** The entries of the other nodes under these keys, kept up to date until it is closed. */
  follow(keys: readonly string[]): Followed;
  /** The node is gone: drops its entries here. If it is heard again, they are read again. */
  forget(node: NodeId): void;
}

/** `id` is unique on its node within the key. */
export type OwnEntry = { readonly id: string; readonly value: Json };

export type Entry = OwnEntry & { readonly key: string; readonly node: NodeId };

export interface Followed {
  /** Nodes with an entry under one of the keys. The same array until it changes. */
  readonly nodes: readonly NodeId[];
  readonly entries: readonly Entry[];
  /** Resolves when the entries that existed have been read, or the transport is down. Never rejects. */
  readonly ready: Promise<void>;
  onChange(listener: () => void): () => void;
  close(): void;
}

export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  constructor(
    message: string,
    /** whether the other side has handled the request; `refused`: it has, and says no */
    readonly handled: 'no' | 'unknown' | 'refused',
  ) {
    super(message);
  }
}
