/**
 * A network of nodes within one process: for a single node, and for several in tests. Like other pub/sub service, it
 * delivers encoded text asynchronously.
 */
import type { NodeId } from '../core/ports/lease.ts';
import { type Log, type Meter, NO_METER } from '../core/ports/telemetry.ts';
import { SYSTEM_CLOCK } from '../lib/clock.ts';
import type { PubSub, PubSubEvents, Timings } from './pub-sub.ts';
import { PubSubTransport } from './pub-sub-transport.ts';
import type { Transport } from './transport.ts';

export type MemoryNodeOptions = {
  readonly log: Log;
  readonly meter?: Meter;
  readonly secret?: string;
  readonly cluster?: string;
  readonly timings?: Timings;
};

export type MemoryNetwork = {
  open(node: NodeId, options: MemoryNodeOptions): Transport;
  /** Stops the pub/sub service and drops all registrations. */
  down(): void;
  up(): void;
  /** Disconnects one node; its registrations are kept. */
  cut(node: NodeId): void;
  repair(node: NodeId): void;
  /** Writes to a channel as an attacker would. */
  inject(channel: string, text: string): void;
};

type Port = { readonly channels: readonly string[]; readonly events: PubSubEvents; connected: boolean };

export function openMemoryNetwork(): MemoryNetwork {
  const ports = new Map<NodeId, Port>();
  const sets = new Map<string, Map<string, number>>();
  let running = true;

  const connect = (port: Port): void =>
    queueMicrotask(() => {
      if (port.connected || !running || ![...ports.values()].includes(port)) return;
      port.connected = true;
      port.events.connected();
    });
  const disconnect = (port: Port): void => {
    if (!port.connected) return;
    port.connected = false;
    port.events.disconnected('the network is down');
  };
  const publish = (channel: string, text: string): number => {
    const receivers = [...ports.values()].filter((port) => port.connected && port.channels.includes(channel));
    for (const port of receivers) queueMicrotask(() => port.connected && port.events.received(channel, text));
    return receivers.length;
  };
  const setOf = (key: string): Map<string, number> => {
    const existing = sets.get(key);
    if (existing) return existing;
    const made = new Map<string, number>();
    sets.set(key, made);
    return made;
  };
  const pubSubOf = (node: NodeId, port: Port): PubSub => {
    const whileConnected = async <Value>(act: () => Value): Promise<Value> => {
      if (!port.connected) throw new Error('the network is down');
      return act();
    };
    return {
      publish: (channel, text) => whileConnected(() => publish(channel, text)),
      renew: (key, members, expiryMs) =>
        whileConnected(() => {
          for (const member of members) setOf(key).set(member, SYSTEM_CLOCK.elapsed() + expiryMs);
        }),
      remove: (key, members) =>
        whileConnected(() => {
          for (const member of members) sets.get(key)?.delete(member);
          if (sets.get(key)?.size === 0) sets.delete(key);
        }),
      members: (key) =>
        whileConnected(() => {
          const now = SYSTEM_CLOCK.elapsed();
          return [...(sets.get(key) ?? [])].filter(([, until]) => until > now).map(([member]) => member);
        }),
      now: SYSTEM_CLOCK.elapsed,
      async close() {
        port.connected = false;
        ports.delete(node);
      },
    };
  };

  return {
    open(node, { log, meter = NO_METER, secret = 'memory', cluster = 'memory', timings }) {
      return new PubSubTransport({ node, cluster, secret, log, meter, timings }, (channels, events) => {
        const port: Port = { channels, events, connected: false };
        ports.set(node, port);
        connect(port);
        return pubSubOf(node, port);
      });
    },
    down() {
      running = false;
      sets.clear();
      for (const port of ports.values()) disconnect(port);
    },
    up() {
      running = true;
      for (const port of ports.values()) connect(port);
    },
    cut(node) {
      const port = ports.get(node);
      if (port) disconnect(port);
    },
    repair(node) {
      const port = ports.get(node);
      if (port) connect(port);
    },
    inject: (channel, text) => void publish(channel, text),
  };
}
