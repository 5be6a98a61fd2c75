/** A TCP proxy for a database that drops connections on demand. */
import { connect, createServer, type Socket } from 'node:net';

export type Proxy = AsyncDisposable & {
  /** URL of the database through the proxy */
  readonly url: string;
  /**
   * Forwards the next `times` requests that contain the text, but drops the connection instead of returning
   * their responses.
   */
  loseAnswerTo(text: string, times?: number): void;
  /** Blocks traffic on current connections, and keeps them open. */
  freeze(): void;
  /** Closes every connection. */
  cut(): void;
};

export async function openProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  let frozen = new Set<readonly [Socket, Socket]>();
  let losing: { readonly text: string; left: number } | null = null;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    let isLosing = false;
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (chunk) => {
      if (frozen.has(pair)) return;
      if (losing && losing.left > 0 && chunk.includes(losing.text)) {
        losing.left--;
        isLosing = true;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      // CommandComplete: the statement was executed and, outside of a transaction, committed
      if (frozen.has(pair)) return;
      if (!isLosing) client.write(chunk);
      else if (chunk.includes('SELECT ') || chunk.includes('COMMIT')) end();
    });
    for (const socket of pair) socket.on('close', end).on('error', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(target);
  url.port = String(typeof address === 'object' ? address?.port : '');
  const cut = () => {
    for (const [client, upstream] of pairs) {
      client.destroy();
      upstream.destroy();
    }
  };
  return {
    url: url.href,
    loseAnswerTo(text, times = 1) {
      losing = { text, left: times };
    },
    freeze() {
      frozen = new Set(pairs);
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
