/**
 * Messages between the nodes of a cluster. Delivery is best effort: events are in the store, and a node that
 * missed a message reads them there. Contract tests: `testing/cluster/contract/`.
 */
import type { Json } from '@parlance/protocol';
import type { NodeId } from '../core/ports/lease.ts';
import type { SessionRef } from '../core/ports/session-ref.ts';

/** `kind` selects the receiver; the transport does not interpret `body`. */
export type NodeMessage = { readonly kind: string; readonly body: Json };

/** Messages of one sender arrive in call order, whether sent, broadcast or requested, each at most once. */
export interface Transport {
  readonly node: NodeId;
  /** False if messages are dropped instead of sent. */
  readonly up: boolean;
  /**
   * Encodes the message once and returns; it is sent in a batch within milliseconds. Dropped while the
   * transport is down.
   */
  send(to: readonly NodeId[], message: NodeMessage): void;
  /** Sends to every other node. */
  broadcast(message: NodeMessage): void;
  /**
   * Registers the only receiver of a kind. It must validate `body`; if it throws, the message is logged and
   * counted.
   */
  on(kind: string, receive: (body: unknown, from: NodeId) => void): () => void;
  /**
   * Sends immediately and resolves with the response. Rejects with `NoAnswer` after `timeoutMs`, or as soon
   * as no response is possible: the transport is down, the node does not exist, or it refused the request.
   */
  request(to: NodeId, message: NodeMessage, timeoutMs: number): Promise<unknown>;
  /** Answers requests of a kind. If the function throws or rejects, the request is refused. */
  respond(kind: string, answer: (body: unknown, from: NodeId) => Json | Promise<Json>): () => void;
  /** Called when messages flow again and this node's entries are registered. */
  onUp(listener: () => void): () => void;
  onDown(listener: () => void): () => void;
  /** Called if messages of that node were lost although this node was up. */
  onLost(listener: (from: NodeId) => void): () => void;
  readonly registry: Registry;
  /** The other nodes of the cluster. */
  readonly others: FollowedEntries;
  /** Removes the entries of this node. */
  close(): Promise<void>;
}

/**
 * Announcements of nodes: the sessions they watch and the clients connected to them. Entries live as long as
 * their node renews them, and are registered again if the pub/sub service has lost them.
 */
export interface Registry {
  /**
   * Returns a function that removes the entry. An entry added n times is removed by the nth removal; the last
   * value wins. Nodes that follow the key see the entry before any message that this node sends afterwards.
   */
  add(key: string, entry?: OwnEntry): () => void;
  /** The other nodes' entries under these keys, kept up to date until closed. */
  follow(keys: readonly string[]): FollowedEntries;
  /** Drops the entries of a node that is gone. If it reappears, they are read again. */
  forget(node: NodeId): void;
}

/** `id` is unique on its node within the key. */
export type OwnEntry = { readonly id: string; readonly value: Json };

export type Entry = OwnEntry & { readonly key: string; readonly node: NodeId };

export interface FollowedEntries {
  /** Nodes with an entry under one of the keys. The array is replaced only on changes. */
  readonly nodes: readonly NodeId[];
  readonly entries: readonly Entry[];
  /** Resolves when the existing entries have been read, or the transport is down. Never rejects. */
  readonly ready: Promise<void>;
  onChange(listener: () => void): () => void;
  close(): void;
}

export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  constructor(
    message: string,
    /** whether the other side has handled the request; `refused`: it has, with an error */
    readonly handled: 'no' | 'unknown' | 'refused',
  ) {
    super(message);
  }
}

// Notifies other nodes of new events through the store, while bus messages may not arrive.

export interface WakeUps {
  /** Whether some node is not receiving messages. */
  readonly needed: boolean;
  /** Returns immediately; never throws. Lost notifications are covered by polling. */
  notify(ref: SessionRef): void;
  /** Called with a predicate for the announced sessions, including this node's own. */
  listen(listener: (concerns: (ref: SessionRef) => boolean) => void): () => void;
}
