/**
 * The bus model: the pub/sub service below the real transport (`cluster/pub-sub-transport.ts`). Like Valkey, it delivers in order
 * over each connection and keeps sets with expiring members. Its faults go further: messages are dropped, repeated and reordered.
 */
import type { OpenPubSub, PubSub, PubSubEvents } from '../packages/server/src/cluster/pub-sub.ts';
import type { Process, World } from './world.ts';

type Port = {
  readonly process: Process;
  readonly channels: readonly string[];
  readonly events: PubSubEvents;
  connected: boolean;
  /** cut off from the service, although it runs */
  cut: boolean;
  closed: boolean;
  /** when the last message to it arrives: later ones come after it */
  lastAt: number;
};

export type BusFaults = { drop: number; repeat: number; reorder: number; slow: number };

const LATENCY_MS = 0.6;
const RECONNECT_MS = 250;

export class Bus {
  readonly faults: BusFaults = { drop: 0, repeat: 0, reorder: 0, slow: 1 };
  readonly #ports = new Set<Port>();
  readonly #sets = new Map<string, Map<string, number>>();
  #running = true;

  constructor(private readonly world: World) {}

  /** Stops the service: it forgets its sets. */
  stop(): void {
    this.#running = false;
    this.#sets.clear();
    for (const port of this.#ports) this.#disconnect(port);
  }

  start(): void {
    this.#running = true;
    for (const port of this.#ports) this.#connect(port);
  }

  cut(process: Process, cut: boolean): void {
    for (const port of this.#ports) {
      if (port.process !== process) continue;
      port.cut = cut;
      if (cut) this.#disconnect(port);
      else this.#connect(port);
    }
  }

  open(process: Process): OpenPubSub {
    return (channels, events): PubSub => {
      const port: Port = {
        process,
        channels,
        events,
        connected: false,
        cut: false,
        closed: false,
        lastAt: 0,
      };
      this.#ports.add(port);
      this.#connect(port);
      let last = 0;
      /** Calls of one connection are executed in order. */
      const call = <Result>(act: () => Result): Promise<Result> => {
        const { promise, resolve, reject } = Promise.withResolvers<Result>();
        const away = () => reject(new Error('the bus is down'));
        if (!port.connected) {
          this.world.after(0, away, process);
          return promise;
        }
        last = Math.max(last, this.world.now + this.#latency(process));
        this.world.after(last - this.world.now, () => {
          if (!port.connected) {
            this.world.after(0, away, process);
            return;
          }
          const result = act();
          this.world.after(this.#latency(process), () => resolve(result), process);
        });
        return promise;
      };
      return {
        publish: (channel, text) => call(() => this.#publish(channel, text)),
        renew: (key, members, expiryMs) =>
          call(() => {
            const set = this.#sets.get(key) ?? new Map<string, number>();
            this.#sets.set(key, set);
            for (const member of members) set.set(member, this.world.now + expiryMs);
          }),
        remove: (key, members) =>
          call(() => {
            for (const member of members) this.#sets.get(key)?.delete(member);
          }),
        members: (key) =>
          call(() =>
            [...(this.#sets.get(key) ?? [])]
              .filter(([, until]) => until > this.world.now)
              .map(([one]) => one),
          ),
        now: () => this.world.now + 1,
        close: async () => {
          port.connected = false;
          port.closed = true;
          this.#ports.delete(port);
        },
      };
    };
  }

  #latency(process: Process): number {
    return process.random.latency(LATENCY_MS * this.faults.slow);
  }

  #connect(port: Port): void {
    this.world.after(
      port.process.random.latency(RECONNECT_MS),
      () => {
        if (port.connected || port.cut || port.closed || !this.#running) return;
        port.connected = true;
        port.events.connected();
      },
      port.process,
    );
  }

  #disconnect(port: Port): void {
    if (!port.connected) return;
    port.connected = false;
    this.world.after(0, () => port.events.disconnected('the bus is down'), port.process);
  }

  #publish(channel: string, text: string): number {
    const receivers = [...this.#ports].filter(
      ({ connected, channels, process }) => connected && !process.ended && channels.includes(channel),
    );
    for (const port of receivers) this.#deliver(port, channel, text);
    return receivers.length;
  }

  #deliver(port: Port, channel: string, text: string): void {
    const { random } = port.process;
    if (random.chance(this.faults.drop)) {
      port.process.trace('bus drops a message to it');
      return;
    }
    const copies = random.chance(this.faults.repeat) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const isLate = random.chance(this.faults.reorder);
      const at = this.world.now + this.#latency(port.process) + (isLate ? random.between(1, 40) : 0);
      const inOrder = isLate || copy > 0 ? at : Math.max(at, port.lastAt);
      if (!isLate && copy === 0) port.lastAt = inOrder;
      this.world.after(
        inOrder - this.world.now,
        () => port.connected && port.events.received(channel, text),
        port.process,
      );
    }
  }
}
