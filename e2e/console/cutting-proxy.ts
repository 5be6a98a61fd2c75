/** A proxy between a browser and a server that a test can interrupt. */

import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Socket } from 'node:net';

export type CuttingProxy = {
  /** the server through this proxy */
  readonly http: string;
  /** Drops all connections and refuses new ones until restored. Returns the number of dropped ones. */
  cut(): number;
  restore(): void;
  /** the number of connections that were refused */
  refused(): number;
  stop(): Promise<void>;
};

/** `cutsAfter`: cuts itself instead of passing on the response to such a request. */
export async function cuttingProxy(
  target: string,
  cutsAfter: (request: string) => boolean = () => false,
): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const ends = new Set<Socket>();
  let whole = true;
  let refused = 0;
  const server = createServer((near) => {
    if (!whole) {
      refused++;
      return near.resetAndDestroy();
    }
    const far = createConnection(Number(port), hostname);
    let isLast = false;
    near.on('data', (bytes) => {
      isLast = cutsAfter(bytes.toString());
    });
    far.on('data', () => isLast && cut());
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(one);
      one.setNoDelay(true);
      one.on('data', (bytes) => other.write(bytes));
      one.on('close', () => {
        ends.delete(one);
        other.destroy();
      });
      // Dropped: `close` follows.
      one.on('error', () => one.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    whole = false;
    const count = ends.size;
    for (const end of ends) end.destroy();
    return count;
  };
  return {
    http: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    refused: () => refused,
    restore() {
      whole = true;
    },
    stop: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
