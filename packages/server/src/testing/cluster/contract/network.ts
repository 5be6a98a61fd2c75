/** Interface to transport implementations under test, and shared test code. */

import type { Timings } from '../../../cluster/pub-sub.ts';
import type { Transport } from '../../../cluster/transport.ts';
import type { CounterName, Log, Meter } from '../../../core/ports/telemetry.ts';
import { until } from '../../until.ts';

export type NodeOptions = {
  readonly log: Log;
  readonly meter: Meter;
  readonly secret: string;
  readonly cluster: string;
  readonly timings?: Timings;
};

export type TestNetwork = {
  open(node: string, options: NodeOptions): Promise<Transport>;
  /** Stops the pub/sub service and drops all registrations. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Disconnects the node; its registrations are kept. */
  cut(node: Transport): Promise<void>;
  /** Allows the node to reconnect. */
  repair(node: Transport): Promise<void>;
  /** Writes to a channel as an attacker would. */
  inject(channel: string, text: string): Promise<void>;
  /** the clock of the pub/sub service */
  now(): number;
  stop(): Promise<void>;
};

/** Null if the pub/sub service is not available on this machine. */
export type Implementation = { readonly open: () => Promise<TestNetwork> } | null;

export const CLUSTER = 'contract';
export const SECRET = 'the secret of the cluster';

/** Long enough that nothing expires during a test. */
export const PATIENT: Timings = { expiryMs: 60_000, renewMs: 20_000, rereadMs: 50 };

export type TestNode = Transport & {
  /** counters, as `name label` → amount */
  readonly counted: Map<string, number>;
  readonly received: string[];
};

/** A network that closes its nodes with it. */
export class Nodes {
  readonly #open: Transport[] = [];

  private constructor(readonly network: TestNetwork) {}

  static async on(implementation: Implementation): Promise<Nodes> {
    if (!implementation) throw new Error('there is no such pubSub on this machine');
    return new Nodes(await implementation.open());
  }

  /** Resolves when the node is up. Messages of kind `note` are collected as `from: body`. */
  async open(node: string, options: Partial<NodeOptions> = {}): Promise<TestNode> {
    const counted = new Map<string, number>();
    const given = { log: SILENT, secret: SECRET, cluster: CLUSTER, timings: PATIENT, ...options };
    const transport = await this.network.open(node, { meter: countingMeter(counted), ...given });
    this.#open.push(transport);
    await isUp(transport);
    const received: string[] = [];
    transport.on('note', (body, from) => received.push(`${from}: ${body}`));
    return Object.assign(transport, { counted, received });
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((transport) => transport.close()));
    await this.network.stop();
  }
}

export const note = (body: string) => ({ kind: 'note', body });

export const isUp = (transport: Transport): Promise<unknown> => until(() => transport.up);
export const isDown = (transport: Transport): Promise<unknown> => until(() => !transport.up);

/** Resolves when `to` has received everything that `from` has sent so far. */
export async function delivered(from: Transport, to: TestNode): Promise<void> {
  const mark = `mark ${crypto.randomUUID()}`;
  from.send([to.node], note(mark));
  await until(() => to.received.includes(`${from.node}: ${mark}`));
  to.received.splice(to.received.indexOf(`${from.node}: ${mark}`), 1);
}

const ignore = () => undefined;
export const SILENT: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function countingMeter(counted: Map<string, number>): Meter {
  const add = (name: CounterName, label = '', amount = 1): void => {
    const key = `${name} ${label}`.trim();
    counted.set(key, (counted.get(key) ?? 0) + amount);
  };
  return { add, observe: ignore, gauge: ignore };
}
