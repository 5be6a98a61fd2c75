/** A TCP proxy between one node and a database, which can be cut. */
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../packages/server/src/testing/free-port.ts';

export type Link = {
  /** the URL of the database through the proxy */
  readonly url: string;
  /** Nothing arrives in either direction, and connections stay open, as if packets were lost. */
  cut(): void;
  /** `late`: what was sent before and meanwhile arrives now; `reset`: connections are closed instead. */
  heal(how: 'late' | 'reset'): void;
  close(): void;
};

/** `target` is asked for each connection, because a fail-over changes it. */
export async function openLink(url: string, target: () => number): Promise<Link> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;

  const server = createServer((client) => {
    const upstream = connect(target(), '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.setNoDelay(true);
      // If the other side is slow, its buffer grows: databases answer with little.
      from.on('data', (chunk) => void to.write(chunk));
      from.on('close', () => {
        // The end of a connection is not noticed through a cut, either.
        if (!isCut) end();
      });
      from.on('error', () => undefined);
      if (isCut) from.pause();
    }
  });
  const port = freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const through = new URL(url);
  through.port = String(port);

  const reset = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
  };
  return {
    url: through.href,
    cut() {
      isCut = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    heal(how) {
      isCut = false;
      if (how === 'reset') reset();
      for (const pair of pairs) {
        for (const socket of pair) socket.resume();
        if (pair.some(({ destroyed }) => destroyed)) for (const socket of pair) socket.end();
      }
    },
    close() {
      reset();
      server.close();
    },
  };
}
